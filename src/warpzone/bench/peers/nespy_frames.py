"""Raw frames of nes-py through gym-super-mario-bros; runs inside the peer's environment.

nes-py always renders every frame.
"""

from __future__ import annotations

import warnings

warnings.simplefilter("ignore")  # gym prints a deprecation warning on import

import numpy as np  # noqa: E402

if not hasattr(np, "bool8"):
    np.bool8 = np.bool_  # type: ignore[attr-defined] # gym 0.26 still uses the old name

from gym_super_mario_bros.smb_env import SuperMarioBrosEnv  # noqa: E402

from .play import SIMPLE_ACTIONS, held_actions  # noqa: E402
from .serve import serve  # noqa: E402

SKIP = 4


class NesPyPlayer:
    """Plays 1-1 repeatedly."""

    def __init__(self) -> None:
        """Boots the game."""
        self._env = SuperMarioBrosEnv(rom_mode="vanilla", target=(1, 1))
        self._actions = held_actions(seed=0)
        self._env.reset()

    def run(self, frames: int) -> None:
        """Runs about `frames` frames."""
        for _ in range(0, frames, SKIP):
            buttons = SIMPLE_ACTIONS[next(self._actions)]
            for _ in range(SKIP):
                _, _, done, _ = self._env.step(buttons)
                if done:
                    self._env.reset()


if __name__ == "__main__":
    serve(NesPyPlayer().run, batch=200)
