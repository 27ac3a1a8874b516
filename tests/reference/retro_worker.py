"""Plays on stable-retro's core; runs inside the peer's environment.

For each level, the worker powers on, runs to the first frame of control and writes the RAM. It then
waits for a line on stdin, plays the buttons that the parent has written, and writes the RAM after
every frame. It answers each time with one line on stdout.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from peers.level_start import Level, start_level
from peers.retro_machine import RAM_SIZE, RetroMachine

LIVES, PLENTY_OF_LIVES = 0x75A, 99  # avoids a game over, which would start the title demo


def play(machine: RetroMachine, buttons: np.ndarray) -> np.ndarray:
    """Returns the RAM after every frame."""
    trace = np.zeros((len(buttons), RAM_SIZE), np.uint8)
    for frame, pressed in enumerate(buttons):
        machine.step(int(pressed))
        trace[frame] = machine.ram()
    return trace


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--integrations", type=Path, required=True)
    parser.add_argument("--game", required=True)
    parser.add_argument("--levels", nargs="+", type=Level.parse, required=True)
    parser.add_argument("--folder", type=Path, required=True, help="folder for exchanging arrays")
    options = parser.parse_args()
    machine = RetroMachine(options.integrations, options.game)
    for level in options.levels:
        machine.power_on()
        start_level(machine, level)
        machine.write(LIVES, PLENTY_OF_LIVES)
        np.save(options.folder / "start.npy", machine.ram())
        print(level, flush=True)
        if not sys.stdin.readline():
            return
        np.save(
            options.folder / "trace.npy", play(machine, np.load(options.folder / "buttons.npy"))
        )
        print(level, flush=True)


if __name__ == "__main__":
    main()
