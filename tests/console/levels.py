"""Consoles at the start of a level, and buttons to play."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import warpzone
from warpzone.bench.peers.level_start import ALL_LEVELS, Level, start_level

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reference"))

from player import random_buttons

__all__ = ["ALL_LEVELS", "Level", "buttons_for", "start_lost_levels", "state_at_start"]

_START, _MODE, _MODE_GAME = 0x08, 0x770, 1
_TITLE_FRAMES = 60


class _Machine:
    """A console with the `Machine` interface of `start_level`."""

    def __init__(self, console: warpzone.Console) -> None:
        self.console = console

    def step(self, buttons: int) -> None:
        self.console.run_frame(buttons, render=False)

    def read(self, address: int) -> int:
        return self.console.peek(address)

    def write(self, address: int, value: int) -> None:
        self.console.poke(address, value)


def state_at_start(rom: Path, level: Level) -> bytes:
    """Returns a save state at the first frame of control in a level."""
    console = warpzone.Console(rom)
    start_level(_Machine(console), level)
    return console.save()


def start_lost_levels(rom: Path) -> bytes:
    """Returns a save state right after START is pressed on the Lost Levels' title screen."""
    console = warpzone.Console(rom)
    console.run_frames(_TITLE_FRAMES)
    for frame in range(100):
        if console.peek(_MODE) == _MODE_GAME:
            return console.save()
        console.run_frame(_START if frame % 2 == 0 else 0, render=False)
    raise RuntimeError("the title screen of the Lost Levels did not react to START")


def buttons_for(seed: int, frames: int) -> list[int]:
    """Samples held buttons that mostly run and jump to the right."""
    return [int(pressed) for pressed in random_buttons(np.random.default_rng(seed), frames)]
