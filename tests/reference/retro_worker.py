"""Records what stable-retro's core does; runs inside the peer's environment.

For each level: power on, go to the first frame of control, then hold random buttons. The RAM at
control, the buttons and the RAM after every frame are written to one file, which the other side
replays.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from peers.level_start import Level, start_level
from peers.retro_machine import RAM_SIZE, RetroMachine

LIVES, PLENTY_OF_LIVES = 0x75A, 99  # so that no game over turns play into the title's demo
_A, _B, _UP, _DOWN, _LEFT, _RIGHT = 0x01, 0x02, 0x10, 0x20, 0x40, 0x80


def random_buttons(seed: int, frames: int) -> np.ndarray:
    """Draws held buttons: mostly rightwards, 4 to 30 frames each, never START or SELECT."""
    rng = np.random.default_rng(seed)
    buttons = np.zeros(frames, np.uint8)
    frame = 0
    while frame < frames:
        hold = int(rng.integers(4, 31))
        pressed = int(rng.choice([_RIGHT, _LEFT, 0], p=[0.7, 0.15, 0.15]))
        for button, probability in ((_A, 0.45), (_B, 0.6), (_DOWN, 0.06), (_UP, 0.04)):
            if rng.random() < probability:
                pressed |= button
        buttons[frame : frame + hold] = pressed
        frame += hold
    return buttons


def record(machine: RetroMachine, level: Level, seed: int, frames: int) -> dict[str, np.ndarray]:
    """Plays one level and returns what the other side needs to replay it."""
    machine.power_on()
    start_level(machine, level)
    machine.write(LIVES, PLENTY_OF_LIVES)
    start = machine.ram()
    buttons = random_buttons(seed, frames)
    trace = np.zeros((frames, RAM_SIZE), np.uint8)
    for frame, pressed in enumerate(buttons):
        machine.step(int(pressed))
        trace[frame] = machine.ram()
    return {"start": start, "buttons": buttons, "trace": trace}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--integrations", type=Path, required=True)
    parser.add_argument("--game", required=True)
    parser.add_argument("--levels", nargs="+", type=Level.parse, required=True)
    parser.add_argument("--frames", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    machine = RetroMachine(options.integrations, options.game)
    for level in options.levels:
        seed = options.seed * 100 + level.world * 10 + level.level
        recording = record(machine, level, seed, options.frames)
        np.savez(options.output / f"{level}.npz", **recording)
        print(level, flush=True)


if __name__ == "__main__":
    main()
