"""Guides from solutions: a route for measuring progress, and places to start from."""

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
    """Guide for a level, derived from its solution.

    Attributes:
        route: Route along which progress is measured.
        places: States along the solution, without the start of the level.
    """

    route: Route | None
    places: tuple[StartState, ...]


def read_guides(
    folder: Path, levels: Sequence[str], spacing: int, rom: str | None = None
) -> dict[str, Guide]:
    """Replays the solution of each level.

    Args:
        folder: Folder of files such as `8-4.solution`.
        levels: Levels to read.
        spacing: Pixels between two places.
        rom: Path of the ROM; defaults to the installed one.

    Raises:
        SolutionError: A level has no solution, or its solution is for another game.
    """
    if not folder.is_dir():
        raise SolutionError(
            f"{folder} is not a folder of solutions; "
            f"`warpzone solve --level all -o {folder}` creates them"
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
