"""From a way to what training along it needs: way points and save states to start from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpzone.search.replay import RomPath, replay
from warpzone.search.way import Way

# Columns of a trace.
_AREA, _X, _Y, _COUNTS, _OBEYS, _MAZE = range(6)
_SQUARE = 16
# A larger step between two frames is a pipe or a maze that sends Mario back.
_LARGEST_STEP = 64

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


def track_of(way: Way, rom: RomPath = None) -> Track:
    """Where the way leads.

    Whenever Mario comes back to a place where he has been (turning round, or sent back by a maze),
    what he did in between is left out.
    """
    trace = replay(way, rom, trace=True).trace
    return _track(trace, loop_erased(trace))


def start_states(way: Way, spacing: int = 64, rom: RomPath = None) -> list[StartState]:
    """Save states along the route, each at least `spacing` pixels from the one before.

    The first is the level's start. In the others Mario obeys and stands, climbs or swims, and a
    step of the way begins: playing `way.inputs[frame // way.frame_skip:]` is the rest of the way.
    """
    return track_and_states(way, spacing, rom)[1]


def track_and_states(
    way: Way, spacing: int = 64, rom: RomPath = None
) -> tuple[Track, list[StartState]]:
    """What `track_of` and `start_states` say, without tracing the way twice."""
    trace = replay(way, rom, trace=True).trace
    frames, distances = [0], [0]
    kept = loop_erased(trace)
    for frame, distance in zip(kept, _distances(trace[kept]), strict=True):
        row = trace[frame]
        calm = row[_COUNTS] and row[_OBEYS] and frame % way.frame_skip == 0
        if calm and _gap(trace[frames[-1]], row) >= spacing:
            frames.append(frame)
            distances.append(distance)
    blobs = replay(way, rom, states_at=frames).states
    states = [
        StartState(frame, _point(trace[frame]), distance, blob)
        for frame, distance, blob in zip(frames, distances, blobs, strict=True)
    ]
    return _track(trace, kept), states


def loop_erased(trace: NDArray[np.int32]) -> list[int]:
    """Frames of a trace on the way without its loops."""
    kept: list[int] = []
    squares: list[Point] = []
    first: dict[Point, int] = {}  # of each square on the way: where in `kept` it begins
    for frame, row in enumerate(trace):
        if not (row[_COUNTS] or row[_OBEYS]):
            continue
        area, x, y = _point(row)
        square = (area, x // _SQUARE, y // _SQUARE)
        if square in first and square != squares[-1]:
            # Back where he was: forget what came after the first frame there.
            cut = first[square] + 1
            for later in squares[cut:]:
                first.pop(later, None)
            first[square] = cut - 1
            del kept[cut:], squares[cut:]
        first.setdefault(square, len(kept))
        kept.append(frame)
        squares.append(square)
    return kept


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
