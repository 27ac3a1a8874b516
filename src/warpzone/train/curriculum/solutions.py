"""What ways give to training: where progress lies, and places to begin at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warpzone._native import Route
from warpzone.envs.checks import make_route
from warpzone.errors import SolutionError
from warpzone.search.route import StartState, route_and_start_states
from warpzone.search.solution import SUFFIX, read_solution


@dataclass(frozen=True)
class Guide:
    """A way through a level.

    Attributes:
        route: Along which progress is measured.
        places: Moments of the way, the level's start left out.
    """

    route: Route | None
    places: tuple[StartState, ...]


def read_guides(
    folder: Path, levels: Sequence[str], spacing: int, rom: str | None = None
) -> dict[str, Guide]:
    """Replays the way of each level.

    Args:
        folder: With files such as `8-4.solution`.
        levels: Which ones are needed.
        spacing: Pixels between two places.
        rom: Game image; by default the installed one.

    Raises:
        WayError: When there is no way for a level, or it does not fit the game.
    """
    if not folder.is_dir():
        raise SolutionError(
            f"{folder} is no folder of ways; `warpzone solve --level all -o {folder}` makes them"
        )
    guides: dict[str, Guide] = {}
    for level in levels:
        path = folder / f"{level}{SUFFIX}"
        if not path.exists():
            raise SolutionError(
                f"{folder} has no way for {level}; "
                f"`warpzone solve --level {level} -o {folder}` finds one"
            )
        solution = read_solution(path)
        if solution.level != level:
            raise SolutionError(f"{path} is a way for {solution.level}, not for {level}; rename it")
        track, states = route_and_start_states(solution, spacing, rom)
        route = make_route(track.points, maze=track.maze)
        guides[level] = Guide(route, tuple(states[1:]))
    return guides
