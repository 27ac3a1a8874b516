"""Plays stable-retro's core; runs inside the peer's environment.

For each level: power on, go to the first frame of control and write the RAM there. Then wait for a
line on standard input, play the buttons the other side has written, and write the RAM after every
frame. Each answer is one line on standard output.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from peers.level_start import Level, start_level
from peers.retro_machine import RAM_SIZE, RetroMachine

LIVES, PLENTY_OF_LIVES = 0x75A, 99  # so that no game over turns play into the title's demo


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
    parser.add_argument("--folder", type=Path, required=True, help="where arrays are exchanged")
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
