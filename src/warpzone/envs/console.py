"""The bare machine: one NES, no game knowledge."""

from __future__ import annotations

import os
from pathlib import Path

from warpzone._native import Console as NativeConsole


class Console(NativeConsole):
    """One NES with a mapper-0 cartridge, switched on.

    Example:
        >>> nes = Console("game.nes")
        >>> nes.run_frame(buttons=0x80, render=True)
        >>> nes.screen.shape
        (240, 256, 3)
    """

    def __init__(self, rom: str | os.PathLike[str] | bytes, exact: bool = False) -> None:
        """Switches a console on.

        Args:
            rom: Path of an iNES file, or its bytes.
            exact: Take the literal path everywhere: every dot of the PPU in turn, no
                shortcut. Slow, and bit by bit the same.
        """
        image = bytes(rom) if isinstance(rom, bytes | bytearray) else Path(rom).read_bytes()
        super().__init__(image, exact)
