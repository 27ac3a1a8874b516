"""An exact and a fast console with the same cartridge, run and compared together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import warpzone

REGISTERS = ("pc", "a", "x", "y", "sp", "p")
CARTRIDGE_MEMORY = 2 * 8192  # program RAM and pattern RAM, at the end of every save state


class ConsolePair:
    """An exact and a fast console that receive the same buttons."""

    def __init__(self, image: bytes) -> None:
        self.exact = warpzone.Console(image, exact=True)
        self.fast = warpzone.Console(image, exact=False)

    def __iter__(self) -> Iterator[warpzone.Console]:
        return iter((self.exact, self.fast))

    def run_frame(self, buttons: int = 0, render: bool = True, buttons2: int = 0) -> None:
        """Runs one frame on both."""
        for console in self:
            console.run_frame(buttons, render=render, buttons2=buttons2)

    def step_instruction(self) -> None:
        """Executes one instruction on both."""
        for console in self:
            console.step_instruction()

    def difference(self, screens: bool = True, memory: bool = True) -> str | None:
        """Describes the first difference, or returns None.

        Args:
            screens: Compare the last rendered screens.
            memory: Compare all memories.
        """
        return (
            self._cpu_difference()
            or (self._memory_difference() if memory else None)
            or (self._screen_difference() if screens else None)
        )

    def _memory_difference(self) -> str | None:
        return (
            _first_byte("RAM", self.exact.ram, self.fast.ram)
            or _first_byte("nametables", self.exact.nametable(), self.fast.nametable())
            or _first_byte("OAM", self.exact.oam(), self.fast.oam())
            or _first_byte("palette", self.exact.palette_ram(), self.fast.palette_ram())
            or _first_byte("cartridge RAM", cartridge_ram(self.exact), cartridge_ram(self.fast))
        )

    def _cpu_difference(self) -> str | None:
        exact, fast = (
            {name: getattr(console.cpu, name) for name in REGISTERS}
            | {"cycle": console.cycle_count, "frame": console.frame_count}
            for console in self
        )
        wrong = [
            f"{name} {value:X} exact, {fast[name]:X} fast"
            for name, value in exact.items()
            if value != fast[name]
        ]
        return "CPU: " + ", ".join(wrong) if wrong else None

    def _screen_difference(self) -> str | None:
        exact, fast = self.exact.colors, self.fast.colors
        if not np.array_equal(exact, fast):
            wrong = np.flatnonzero(exact != fast)
            line, x = divmod(int(wrong[0]), 256)
            lines = len(set((wrong // 256).tolist()))
            return (
                f"screen: {wrong.size} pixels in {lines} lines, first at line {line}, x {x}:"
                f" {exact[wrong[0]]:02X} exact, {fast[wrong[0]]:02X} fast"
            )
        # The colors are equal, so only the emphasis bits of a line can differ.
        wrong_lines = np.flatnonzero((self.exact.screen != self.fast.screen).any(axis=(1, 2)))
        return f"emphasis of lines {wrong_lines[:5].tolist()}" if wrong_lines.size else None


def cartridge_ram(console: warpzone.Console) -> np.ndarray:
    """Returns program RAM and pattern RAM, which are only accessible in a save state."""
    return np.frombuffer(console.save(), np.uint8)[-CARTRIDGE_MEMORY:]


def _first_byte(name: str, exact: np.ndarray, fast: np.ndarray) -> str | None:
    if np.array_equal(exact, fast):
        return None
    wrong = np.flatnonzero(exact != fast)
    at = int(wrong[0])
    return (
        f"{name}: {wrong.size} bytes, first ${at:03X}: {exact[at]:02X} exact, {fast[at]:02X} fast"
    )
