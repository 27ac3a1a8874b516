"""stable-retro's emulator with the `Machine` interface; runs inside the peer's environment.

stable-retro's core (FCEUmm) starts a frame at scanline 240, as ours does: the NMI of that frame
sees the buttons of the same `step`, and the RAM after a step already contains its results.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import stable_retro

RAM_SIZE = 2048
# Position in stable-retro's button array (B, none, SELECT, START, UP, DOWN, LEFT, RIGHT, A) of
# A, B, Select, Start, Up, Down, Left, Right.
_BUTTON_POSITIONS = (8, 0, 2, 3, 4, 5, 6, 7)


def button_array(buttons: int) -> np.ndarray:
    """Translates our button bits into stable-retro's array."""
    array = np.zeros(9, np.uint8)
    for bit, position in enumerate(_BUTTON_POSITIONS):
        array[position] = buttons >> bit & 1
    return array


class RetroMachine:
    """stable-retro's emulator, without its reward and info layer."""

    def __init__(
        self, integrations: Path, game: str, info: str = "data", scenario: str = "scenario"
    ) -> None:
        """Loads the game from a folder of custom integrations.

        Args:
            integrations: Folder of custom integrations.
            game: Name of the game's subfolder.
            info: Name of the file that lists the reported variables.
            scenario: Name of the file that defines rewards and episode ends.
        """
        stable_retro.data.Integrations.add_custom_path(str(integrations))
        self.env = stable_retro.make(
            game,
            info=info,
            scenario=scenario,
            state=stable_retro.State.NONE,
            inttype=stable_retro.data.Integrations.CUSTOM_ONLY,
            use_restricted_actions=stable_retro.Actions.ALL,
            render_mode=None,
        )
        self._emulator = self.env.em
        self._memory = self.env.data.memory
        self._power_on = self._emulator.get_state()

    def power_on(self) -> None:
        """Returns to the first frame after power-on."""
        self._emulator.set_state(self._power_on)

    def step(self, buttons: int) -> None:
        """Runs one frame."""
        self._emulator.set_button_mask(button_array(buttons), 0)
        self._emulator.step()

    def read(self, address: int) -> int:
        """Returns one byte of CPU RAM."""
        return int(self._memory.extract(address, "|u1"))

    def write(self, address: int, value: int) -> None:
        """Sets one byte of CPU RAM."""
        self._memory.assign(address, "|u1", value)

    def ram(self) -> np.ndarray:
        """Returns the 2 KiB of CPU RAM."""
        ram: np.ndarray = self.env.get_ram()[:RAM_SIZE].copy()
        return ram
