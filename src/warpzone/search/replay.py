"""Proving a way by playing it from power-on, and what can be read along it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from warpzone import _native
from warpzone.errors import WayError
from warpzone.rom_image import identify
from warpzone.roms import load_game
from warpzone.search.way import PRINCESS, Way

RomPath = str | os.PathLike[str] | None

_FAILURES = {
    "death": "Mario dies",
    "unfinished": "the level is not left",
    "warp": "it ends in a warp",
}


def replay(
    way: Way, rom: RomPath = None, *, trace: bool = False, states_at: Sequence[int] = ()
) -> _native.Replay:
    """Begins the level from power-on and plays the way, then no buttons until the game moves on.

    Args:
        way: What to play.
        rom: The game's image; by default `WARPZONE_ROM`, or the installed one.
        trace: Also record where Mario is at every frame.
        states_at: Frames of the way at which to keep save states.

    Raises:
        WayError: If the way was found with another image.
    """
    image = load_game(way.game, rom)
    found = identify(image).body_sha1
    if found != way.rom:
        raise WayError(
            f"the way for {way.level} was found with another image of the game (SHA-1 {way.rom},"
            f" this one has {found}); give that image with --rom, or explore the level again"
        )
    return _native.replay(
        image,
        way.game,
        way.level,
        way.frame_skip,
        way.inputs,
        trace=trace,
        states_at=list(states_at),
    )


def verify(way: Way, rom: RomPath = None) -> None:
    """Replays a way.

    Raises:
        WayError: If the game does not go where the way says, or not in that time.
    """
    played = replay(way, rom)
    ends = PRINCESS if played.ending == "princess" else played.end_level
    is_warp = played.ending == "warp"
    if played.ending in ("death", "unfinished") or (is_warp and ends != way.ends):
        raise WayError(f"the way for {way.level} does not clear it: {_FAILURES[played.ending]}")
    for name, told, seen in (
        ("ends", way.ends, ends),
        ("frames", way.frames, played.frames),
        ("area-changes", way.area_changes, played.area_changes),
    ):
        if told != seen:
            raise WayError(
                f"the way for {way.level} is altered: it says {name}: {told}, and the replay shows"
                f" {seen}"
            )
