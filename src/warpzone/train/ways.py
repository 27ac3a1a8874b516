"""What ways give to training: where progress lies, and places to begin at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warpzone._native import Route
from warpzone.envs.checks import make_route
from warpzone.errors import WayError
from warpzone.search.route import StartState, track_and_states
from warpzone.search.way import ENDING, read_way


@dataclass(frozen=True)
class Guide:
    """A way through a level.

    Attributes:
        route: Along which progress is measured.
        places: Moments of the way, the level's start left out.
    """

    route: Route | None
    places: tuple[StartState, ...]


def read_guides(folder: Path, levels: Sequence[str], spacing: int) -> dict[str, Guide]:
    """Replays the way of each level.

    Args:
        folder: With files such as `8-4.way`.
        levels: Which ones are needed.
        spacing: Pixels between two places.

    Raises:
        WayError: When there is no way for a level, or it does not fit the game.
    """
    if not folder.is_dir():
        raise WayError(
            f"{folder} is no folder of ways; `warpzone explore --level all -o {folder}` makes them"
        )
    guides: dict[str, Guide] = {}
    for level in levels:
        path = folder / f"{level}{ENDING}"
        if not path.exists():
            raise WayError(
                f"{folder} has no way for {level}; "
                f"`warpzone explore --level {level} -o {folder}` finds one"
            )
        way = read_way(path)
        if way.level != level:
            raise WayError(f"{path} is a way for {way.level}, not for {level}; rename it")
        track, states = track_and_states(way, spacing)
        route = make_route(track.points, maze=track.maze)
        guides[level] = Guide(route, tuple(states[1:]))
    return guides
