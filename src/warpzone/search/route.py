"""From a way to what training along it needs: way points and save states to start from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpzone.search.replay import RomPath, replay
from warpzone.search.solution import Solution

# Columns of a trace.
_AREA, _X, _Y, _COUNTS, _OBEYS, _MAZE = range(6)
_SQUARE = 16
# A larger step between two frames is a pipe or a maze that sends Mario back.
_LARGEST_STEP = 64
_SCREEN = 256
_DETOUR = 64  # frames

#: Area, x and y, as `MarioVectorEnv.set_route` takes them.
Point = tuple[int, int, int]


@dataclass(frozen=True)
class Track:
    """Where a way leads.

    Attributes:
        points: For every frame that is not part of a loop.
        maze: Whether it leads through a maze, whose corridors lie one above the other.
    """

    points: list[Point]
    maze: bool


@dataclass(frozen=True)
class StartState:
    """A moment of a way to start an episode from.

    Attributes:
        frame: From the start of the level.
        point: Where Mario is.
        distance: Pixels along the route from its beginning, as progress is counted.
        blob: For `MarioVectorEnv.set_start_state`.
    """

    frame: int
    point: Point
    distance: int
    blob: bytes


def track_of(solution: Solution, rom: RomPath = None) -> Track:
    """Where the way leads.

    Whenever Mario comes back to a place where he has been (turning round, or sent back by a maze),
    what he did in between is left out.
    """
    trace = replay(solution, rom, trace=True).trace
    return _track(trace, loop_erased(trace))


def start_states(solution: Solution, spacing: int = 64, rom: RomPath = None) -> list[StartState]:
    """Save states along the route, each at least `spacing` pixels from the one before.

    The first is the level's start. In the others Mario obeys and stands, climbs or swims, and a
    step of the way begins: playing `way.inputs[frame // way.frame_skip:]` is the rest of the way.

    Detours of a second or more, which are no part of the route, have states as well: in 8-4 a
    hidden block has to be hit before Mario comes by again.
    """
    return track_and_states(solution, spacing, rom)[1]


def track_and_states(
    solution: Solution, spacing: int = 64, rom: RomPath = None
) -> tuple[Track, list[StartState]]:
    """What `track_of` and `start_states` say, without tracing the way twice."""
    trace = replay(solution, rom, trace=True).trace
    frames, distances = [0], [0]
    kept = loop_erased(trace)
    ends = [*kept[1:], kept[-1] + 1]
    for begin, end, distance in zip(kept, ends, _distances(trace[kept]), strict=True):
        # What was left out led nowhere, but may have changed the level.
        for frame in range(begin, end if end - begin >= _DETOUR else begin + 1):
            row = trace[frame]
            calm = row[_COUNTS] and row[_OBEYS] and frame % solution.frame_skip == 0
            far = _gap(trace[frames[-1]], row) >= spacing
            if calm and (far if frame == begin else frame - frames[-1] >= _DETOUR):
                frames.append(frame)
                distances.append(distance)
    blobs = replay(solution, rom, states_at=frames).states
    states = [
        StartState(frame, _point(trace[frame]), distance, blob)
        for frame, distance, blob in zip(frames, distances, blobs, strict=True)
    ]
    return _track(trace, kept), states


def loop_erased(trace: NDArray[np.int32]) -> list[int]:
    """Frames of a trace on the way without its loops."""
    line = _Line()
    for frame, row in enumerate(trace):
        if not (row[_COUNTS] or row[_OBEYS]):
            line.leave()
            continue
        if frame > 0 and _sent_back(trace[frame - 1], row):
            line.send_back(_point(row))
        line.add(frame, _point(row))
    return line.frames


class _Line:
    """Grows frame by frame; what lies between two visits of a square is forgotten.

    A maze sends Mario back by changing his x alone: what he sees stays until it has scrolled away,
    and may be left through a pipe that is not at this x otherwise (8-4 wants just that). So he is
    back only once he has come a screen further.
    """

    def __init__(self) -> None:
        self.frames: list[int] = []
        self._squares: list[Point] = []
        self._first: dict[Point, int] = {}  # of each square: where in `frames` it begins
        self._lap: _Lap | None = None

    def add(self, frame: int, place: Point) -> None:
        area, x, y = place
        if self._lap is not None and x >= self._lap.back_at + _SCREEN:
            self._forget_lap(self._lap)
        square = (area, x // _SQUARE, y // _SQUARE)
        if self._lap is None:
            if square in self._first and square != self._squares[-1]:
                # Back where he was: forget what came after the first frame there.
                self._cut(self._first[square] + 1, len(self.frames))
            self._first.setdefault(square, len(self.frames))
        self.frames.append(frame)
        self._squares.append(square)

    def send_back(self, place: Point) -> None:
        """The next frame is another lap through a maze."""
        self._lap = _Lap(len(self.frames), place[1])

    def leave(self) -> None:
        """The lap is over: Mario goes through a pipe, for which it was needed, or has walked on."""
        if self._lap is not None:
            self._lap = None
            self._index()

    def _forget_lap(self, lap: _Lap) -> None:
        """The lap before leads nowhere else than where Mario was when he first came by."""
        column = lap.back_at // _SQUARE
        before = [at for at, square in enumerate(self._squares[: lap.at]) if square[1] == column]
        if before:
            self._cut(before[0] + 1, lap.at)
        self.leave()

    def _cut(self, begin: int, end: int) -> None:
        del self.frames[begin:end], self._squares[begin:end]
        self._index()

    def _index(self) -> None:
        self._first = {}
        for at, square in enumerate(self._squares):
            self._first.setdefault(square, at)


@dataclass(frozen=True)
class _Lap:
    """Another lap through a maze: where it begins in the line, and at which x.

    Attributes:
        at: Index of its first frame.
        back_at: X to which Mario was sent; a screen further he sees what belongs there.
    """

    at: int
    back_at: int


def _sent_back(before: NDArray[np.int32], now: NDArray[np.int32]) -> bool:
    """Whether a maze sends Mario back between two frames."""
    obeys = before[_OBEYS] and now[_OBEYS] and before[_AREA] == now[_AREA]
    return bool(obeys and before[_X] - now[_X] > _LARGEST_STEP)


def _distances(route: NDArray[np.int32]) -> list[int]:
    """Pixels from the beginning of a route to each of its rows; leaps add nothing."""
    moved = np.abs(np.diff(route[:, _X], prepend=route[:1, _X]))
    joined = np.diff(route[:, _AREA], prepend=route[:1, _AREA]) == 0
    counted = np.where(joined & (moved <= _LARGEST_STEP), moved, 0)
    return [int(distance) for distance in np.cumsum(counted)]


def _track(trace: NDArray[np.int32], kept: Sequence[int]) -> Track:
    return Track([_point(trace[frame]) for frame in kept], bool(trace[:, _MAZE].any()))


def _point(row: Sequence[int] | NDArray[np.int32]) -> Point:
    return int(row[_AREA]), int(row[_X]), int(row[_Y])


def _gap(a: NDArray[np.int32], b: NDArray[np.int32]) -> int:
    """Pixels between two places; far apart when they are in different areas."""
    if a[_AREA] != b[_AREA]:
        return 1 << 20
    return int(abs(a[_X] - b[_X]) + abs(a[_Y] - b[_Y]))
