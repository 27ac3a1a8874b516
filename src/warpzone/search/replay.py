"""Replaying and verifying a solution from power-on."""

from __future__ import annotations

import os
from collections.abc import Sequence

from warpzone import _native
from warpzone.errors import SolutionError
from warpzone.rom.image import identify
from warpzone.rom.locate import load_game
from warpzone.search.solution import PRINCESS, Solution

RomPath = str | os.PathLike[str] | None

_FAILURES = {
    "death": "Mario dies",
    "unfinished": "Mario does not leave the level",
    "warp": "it ends in a warp zone",
}


def replay(
    solution: Solution, rom: RomPath = None, *, trace: bool = False, states_at: Sequence[int] = ()
) -> _native.Replay:
    """Starts the level from power-on, plays the solution, then waits for the next level.

    No buttons are pressed after the solution's last input.

    Args:
        solution: The solution to play.
        rom: Path to the ROM; by default `WARPZONE_ROM`, or the installed one.
        trace: Also record Mario's position at every frame.
        states_at: Frames of the solution at which to take save states.

    Raises:
        SolutionError: If the solution was found with a different ROM.
    """
    image = load_game(solution.game, rom)
    found = identify(image).body_sha1
    if found != solution.rom:
        raise SolutionError(
            f"the solution of {solution.level} was found with a different ROM (SHA-1 "
            f"{solution.rom}; this one is {found}); pass that ROM with --rom, or solve the level "
            "again"
        )
    return _native.replay(
        image,
        solution.game,
        solution.level,
        solution.frame_skip,
        solution.inputs,
        trace=trace,
        states_at=list(states_at),
    )


def verify(solution: Solution, rom: RomPath = None) -> None:
    """Replays a solution and checks that it clears its level as its header claims.

    Raises:
        SolutionError: If it does not clear the level, or the header does not match the replay.
    """
    played = replay(solution, rom)
    ends = PRINCESS if played.ending == "princess" else played.end_level
    is_warp = played.ending == "warp"
    if played.ending in ("death", "unfinished") or (is_warp and ends != solution.ends):
        raise SolutionError(
            f"the solution of {solution.level} does not clear it: {_FAILURES[played.ending]}"
        )
    for name, claimed, actual in (
        ("ends", solution.ends, ends),
        ("frames", solution.frames, played.frames),
        ("area-changes", solution.area_changes, played.area_changes),
    ):
        if claimed != actual:
            raise SolutionError(
                f"the solution of {solution.level} was altered: it claims {name}: {claimed}, but "
                f"the replay gives {actual}"
            )
