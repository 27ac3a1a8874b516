"""Proving a way by playing it from power-on, and what can be read along it."""

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
    "unfinished": "the level is not left",
    "warp": "it ends in a warp",
}


def replay(
    solution: Solution, rom: RomPath = None, *, trace: bool = False, states_at: Sequence[int] = ()
) -> _native.Replay:
    """Begins the level from power-on and plays the way, then no buttons until the game moves on.

    Args:
        solution: What to play.
        rom: The game's image; by default `WARPZONE_ROM`, or the installed one.
        trace: Also record where Mario is at every frame.
        states_at: Frames of the way at which to keep save states.

    Raises:
        WayError: If the way was found with another image.
    """
    image = load_game(solution.game, rom)
    found = identify(image).body_sha1
    if found != solution.rom:
        raise SolutionError(
            f"the solution of {solution.level} was found with another game image (SHA-1 "
            f"{solution.rom}; this one has {found}); give that image with --rom, or solve the "
            "level again"
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
    """Replays a way.

    Raises:
        WayError: If the game does not go where the way says, or not in that time.
    """
    played = replay(solution, rom)
    ends = PRINCESS if played.ending == "princess" else played.end_level
    is_warp = played.ending == "warp"
    if played.ending in ("death", "unfinished") or (is_warp and ends != solution.ends):
        raise SolutionError(
            f"the way for {solution.level} does not clear it: {_FAILURES[played.ending]}"
        )
    for name, told, seen in (
        ("ends", solution.ends, ends),
        ("frames", solution.frames, played.frames),
        ("area-changes", solution.area_changes, played.area_changes),
    ):
        if told != seen:
            raise SolutionError(
                f"the solution of {solution.level} was altered: it says {name}: {told}, but the "
                f"replay shows {seen}"
            )
