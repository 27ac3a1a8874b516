"""How an episode starts on a level."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Start:
    """How an episode starts on a level.

    Attributes:
        power: Mario at the start: 0 small, 1 big, 2 with fire.
        halfway: Whether he starts at the level's halfway page, where it has one.
        announced: Whether the level is announced first, as within a game. The start then lies
            `LEAD_FRAMES` frames before Mario is in control.
    """

    power: int = 0
    halfway: bool = False
    announced: bool = False
