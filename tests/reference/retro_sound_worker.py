"""Records the sound of stable-retro's core; runs inside the peer's environment."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from peers.level_start import Level, start_level
from peers.retro_machine import RetroMachine


def main(integrations: str, game: str, buttons: str, output: str) -> None:
    """Plays the buttons from the start of 1-1 and saves the left channel as int16."""
    machine = RetroMachine(Path(integrations), game)
    machine.power_on()
    start_level(machine, Level.parse("1-1"))
    parts = []
    for pressed in np.load(buttons):
        machine.step(int(pressed))
        parts.append(machine.env.em.get_audio()[:, 0])
    np.save(output, np.concatenate(parts))


if __name__ == "__main__":
    main(*sys.argv[1:])
