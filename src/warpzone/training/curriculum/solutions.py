"""What solutions give to training: a route to measure progress along, and places to begin at."""

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
    """What is known of a level from its solution.

    Attributes:
        route: Along which progress is measured.
        places: Moments of the solution, except for the level's start.
    """

    route: Route | None
    places: tuple[StartState, ...]


def read_guides(
    folder: Path, levels: Sequence[str], spacing: int, rom: str | None = None
) -> dict[str, Guide]:
    """Replays the solution of each level.

    Args:
        folder: With files such as `8-4.solution`.
        levels: The levels that are needed.
        spacing: Pixels between two places.
        rom: Game image; by default the installed one.

    Raises:
        SolutionError: A level has no solution, or its solution is for another game.
    """
    if not folder.is_dir():
        raise SolutionError(
            f"{folder} is not a folder of solutions; "
            f"`warpzone solve --level all -o {folder}` makes them"
        )
    guides: dict[str, Guide] = {}
    for level in levels:
        path = folder / f"{level}{SUFFIX}"
        if not path.exists():
            raise SolutionError(
                f"{folder} has no solution for {level}; "
                f"`warpzone solve --level {level} -o {folder}` finds one"
            )
        solution = read_solution(path)
        if solution.level != level:
            raise SolutionError(
                f"{path} is a solution for {solution.level}, not for {level}; rename it"
            )
        route, states = route_and_start_states(solution, spacing, rom)
        native = make_route(route.points, maze=route.maze)
        guides[level] = Guide(native, tuple(states[1:]))
    return guides
