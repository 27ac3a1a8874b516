"""`warpzone play`: a person plays, in a window."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro


@dataclass(frozen=True)
class Play:
    """Play the game yourself, in a window.

    Arrows move, X is A (jump), Z is B (run, fire), Enter is Start, Shift is Select. P pauses, R
    begins again, F5 saves a state and F9 loads it, Esc quits. Needs `pip install 'warpzone[play]'`.

    For example:
      warpzone play
      warpzone play --level 8-1 --scale 4
      warpzone play --level 1-2 --record run.mp4
      warpzone play --level 8-4 --state pipe.state
    """

    level: str = "game"
    """A level to begin with, or 'game' for the whole game."""
    scale: int = 3
    """How many times larger each pixel becomes."""
    record: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Film everything to this .mp4 or .gif."""
    state: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Keep the saved state in this file, as a start state or for another day; else in memory."""
    power: Literal[0, 1, 2] = 0
    """Mario at the start of a level: 0 small, 1 big, 2 with fire."""
    game: Literal["smb", "lost-levels"] = "smb"
    """The game to play."""
    rom: Path | None = None
    """The game's image; by default WARPZONE_ROM, or the installed one."""

    def run(self) -> int:
        """Opens the window and runs until it is closed."""
        from contextlib import nullcontext

        from warpzone.errors import ConfigError
        from warpzone.play.window import GameWindow, Session
        from warpzone.video.writer import VideoWriter

        if not 1 <= self.scale <= 16:
            raise ConfigError(f"--scale is {self.scale}; it must be from 1 to 16")
        session = Session(self.level, self.game, self.rom, self.power, self.state)
        record = nullcontext() if self.record is None else VideoWriter(self.record, 60, scale=2)
        with GameWindow(self.scale) as window, record as video:
            frames = session.run(window, None if video is None else video.write)
        print(f"played {frames / 60:.0f} s")
        if self.record is not None:
            print(f"wrote {self.record}")
        return 0
