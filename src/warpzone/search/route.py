"""What training needs from a solution: a loop-free route and save states along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpzone.search.replay import RomPath, replay
from warpzone.search.solution import Solution

# Columns of a trace. Progress is measured only while Mario stands, climbs or swims.
_AREA, _X, _Y, _MEASURED, _IN_CONTROL, _MAZE = range(6)
_TILE = 16
# A larger jump between two frames is a pipe, or a maze that sends Mario back.
_MAX_FRAME_STEP = 64
_SCREEN_WIDTH = 256
_DETOUR_FRAMES = 16
_LONG_DETOUR_FRAMES = 64
_OTHER_AREA = 1 << 20  # Distance between positions in different areas, in pixels.
#: Area, x and y, as `MarioVectorEnv.set_route` takes them.
Point = tuple[int, int, int]


@dataclass(frozen=True)
class SolutionRoute:
    """The loop-free path of a solution.

    Attributes:
        points: Mario's position at every frame that is not part of a loop.
        maze: Whether the route passes through a maze, whose corridors lie one above the other.
    """

    points: list[Point]
    maze: bool


@dataclass(frozen=True)
class StartState:
    """A moment of a solution to start an episode from.

    Attributes:
        frame: Frames since the start of the level.
        point: Mario's position.
        distance: Pixels along the route from its start, in the units of `progress`.
        blob: The save state, as `MarioVectorEnv.set_start_state` takes it.
    """

    frame: int
    point: Point
    distance: int
    blob: bytes


def solution_route(solution: Solution, rom: RomPath = None) -> SolutionRoute:
    """Replays a solution and returns its route.

    Whenever Mario returns to a tile he has already visited (because he turns around, or a maze
    sends him back), the frames in between are dropped.
    """
    trace = replay(solution, rom, trace=True).trace
    return _route(trace, loop_erased(trace))


def start_states(solution: Solution, spacing: int = 64, rom: RomPath = None) -> list[StartState]:
    """Returns save states along the route, each at least `spacing` pixels from the previous one.

    The first is the start of the level. In all others Mario is under control and stands, climbs or
    swims, and the frame is the first of a solution step: playing
    `solution.inputs[frame // solution.frame_skip:]` completes the level.

    Detours are not part of the route but get states as well: in 8-4 a hidden block has to be hit
    before Mario comes past again, and he has to climb it to reach the next pipe.
    """
    return route_and_start_states(solution, spacing, rom)[1]


def route_and_start_states(
    solution: Solution, spacing: int = 64, rom: RomPath = None
) -> tuple[SolutionRoute, list[StartState]]:
    """Returns both `solution_route` and `start_states`, tracing the solution only once."""
    trace = replay(solution, rom, trace=True).trace
    frames, distances = [0], [0]
    kept = loop_erased(trace)
    ends = [*kept[1:], kept[-1] + 1]
    for begin, end, distance in zip(kept, ends, _distances(trace[kept]), strict=True):
        # A dropped loop led nowhere, but it may have changed the level.
        for frame in range(begin, end if end - begin >= _DETOUR_FRAMES else begin + 1):
            row = trace[frame]
            usable = row[_MEASURED] and row[_IN_CONTROL] and frame % solution.frame_skip == 0
            far = _gap(trace[frames[-1]], row) >= spacing
            waited = frame > begin and frame - frames[-1] >= _LONG_DETOUR_FRAMES
            if usable and (far or waited):
                frames.append(frame)
                distances.append(distance)
    blobs = replay(solution, rom, states_at=frames).states
    states = [
        StartState(frame, _point(trace[frame]), distance, blob)
        for frame, distance, blob in zip(frames, distances, blobs, strict=True)
    ]
    return _route(trace, kept), states


def loop_erased(trace: NDArray[np.int32]) -> list[int]:
    """Returns the frames of a trace that remain after its loops are erased."""
    path = _LoopErasedPath()
    for frame, row in enumerate(trace):
        if not (row[_MEASURED] or row[_IN_CONTROL]):
            path.end_lap()
            continue
        if frame > 0 and _sent_back(trace[frame - 1], row):
            path.begin_lap(_point(row))
        path.add(frame, _point(row))
    return path.frames


class _LoopErasedPath:
    """Grows frame by frame and drops everything between two visits to the same tile.

    A maze sends Mario back by changing only his x. The old scenery stays on the screen until it
    scrolls away, and Mario may leave through a pipe that does not normally exist at this x (8-4
    requires exactly that). So he counts as sent back only after he has walked one more screen.
    """

    def __init__(self) -> None:
        self.frames: list[int] = []
        self._tiles: list[Point] = []
        self._first_visit: dict[Point, int] = {}  # tile -> index into `frames`
        self._lap: _Lap | None = None

    def add(self, frame: int, point: Point) -> None:
        """Appends a frame."""
        area, x, y = point
        if self._lap is not None and x >= self._lap.start_x + _SCREEN_WIDTH:
            self._drop_previous_lap(self._lap)
        tile = (area, x // _TILE, y // _TILE)
        if self._lap is None:
            if tile in self._first_visit and tile != self._tiles[-1]:
                # Mario is back on an earlier tile: drop the frames since his first one there.
                self._drop(self._first_visit[tile] + 1, len(self.frames))
            self._first_visit.setdefault(tile, len(self.frames))
        self.frames.append(frame)
        self._tiles.append(tile)

    def begin_lap(self, point: Point) -> None:
        """Marks the next frame as the first of another lap through a maze."""
        self._lap = _Lap(len(self.frames), point[1])

    def end_lap(self) -> None:
        """Ends the lap: Mario enters a pipe that required it, or has walked past the maze."""
        if self._lap is not None:
            self._lap = None
            self._index()

    def _drop_previous_lap(self, lap: _Lap) -> None:
        """Drops the lap before this one, which only led back to where it started."""
        column = lap.start_x // _TILE
        before = [at for at, tile in enumerate(self._tiles[: lap.index]) if tile[1] == column]
        if before:
            self._drop(before[0] + 1, lap.index)
        self.end_lap()

    def _drop(self, begin: int, end: int) -> None:
        del self.frames[begin:end], self._tiles[begin:end]
        self._index()

    def _index(self) -> None:
        self._first_visit = {}
        for index, tile in enumerate(self._tiles):
            self._first_visit.setdefault(tile, index)


@dataclass(frozen=True)
class _Lap:
    """Another lap through a maze.

    Attributes:
        index: Index of its first frame in the path.
        start_x: The x that Mario was sent back to; one screen further on, the old scenery is gone.
    """

    index: int
    start_x: int


def _sent_back(before: NDArray[np.int32], now: NDArray[np.int32]) -> bool:
    """Whether a maze sends Mario back between two frames."""
    in_control = before[_IN_CONTROL] and now[_IN_CONTROL] and before[_AREA] == now[_AREA]
    return bool(in_control and before[_X] - now[_X] > _MAX_FRAME_STEP)


def _distances(route: NDArray[np.int32]) -> list[int]:
    """Pixels from the start of a route to each of its rows; jumps in position add nothing."""
    moved = np.abs(np.diff(route[:, _X], prepend=route[:1, _X]))
    same_area = np.diff(route[:, _AREA], prepend=route[:1, _AREA]) == 0
    counted = np.where(same_area & (moved <= _MAX_FRAME_STEP), moved, 0)
    return [int(distance) for distance in np.cumsum(counted)]


def _route(trace: NDArray[np.int32], kept: Sequence[int]) -> SolutionRoute:
    return SolutionRoute([_point(trace[frame]) for frame in kept], bool(trace[:, _MAZE].any()))


def _point(row: Sequence[int] | NDArray[np.int32]) -> Point:
    return int(row[_AREA]), int(row[_X]), int(row[_Y])


def _gap(a: NDArray[np.int32], b: NDArray[np.int32]) -> int:
    """Manhattan distance in pixels between two positions; very large across areas."""
    if a[_AREA] != b[_AREA]:
        return _OTHER_AREA
    return int(abs(a[_X] - b[_X]) + abs(a[_Y] - b[_Y]))
