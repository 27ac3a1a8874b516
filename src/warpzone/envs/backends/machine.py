"""What an environment needs of the machine that the game runs on."""

from __future__ import annotations

from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from warpzone import _native
from warpzone.envs.backends.start import Start
from warpzone.envs.setup import EnvSetup
from warpzone.errors import ConfigError

Backend = Literal["native", "nes-py"]
BACKENDS: tuple[str, ...] = get_args(Backend)


class Machine(Protocol):
    """A console with the game in it.

    Everything known about the game is read from `ram`, so infos, rewards, tiles and ends are the
    same on every machine that runs the game.
    """

    @property
    def frame_count(self) -> int:
        """Frames since the machine was made."""

    @property
    def ram(self) -> NDArray[np.uint8]:
        """The 2 KiB as they are now: a view, not a copy."""

    @property
    def screen(self) -> NDArray[np.uint8]:
        """The last drawn frame, 240 x 256 x 3."""

    def begin(self, level: str, start: Start) -> None:
        """Goes to the first frame of a level in which Mario can be controlled; always the same.

        Args:
            level: Level, or the whole game, which always starts with small Mario.
            start: Where and how.
        """

    def resume(self, state: bytes) -> None:
        """Goes to a save state."""

    def run_frame(self, buttons: int, *, render: bool, buttons2: int = 0) -> None:
        """Runs a frame, drawn when `render` asks for it; `buttons2` is the second controller."""

    def poke(self, address: int, value: int) -> None:
        """Writes a byte of RAM."""

    def skip_scripted(self) -> None:
        """Runs to the next frame in which Mario can be controlled, as gym-super-mario-bros does."""

    def draw_ahead(self) -> None:
        """Makes sure that `screen` shows this moment, and changes nothing else."""

    def grey(self) -> NDArray[np.uint8]:
        """Brightness of the screen, 240 x 256; a masked status bar is black."""

    def rgb(self) -> NDArray[np.uint8]:
        """The screen in color, 3 x 240 x 256; a masked status bar is black."""

    def close(self) -> None:
        """Frees the machine; closing it again does nothing."""


def check_backend(backend: Any) -> None:
    """Raises ConfigError for a backend that does not exist."""
    if backend not in BACKENDS:
        raise ConfigError(f"backend is {backend!r}; it must be one of {', '.join(BACKENDS)}")


def make_machine(
    backend: str, setup: EnvSetup, image: _native.ImageWriter, *, strict_stage: bool
) -> Machine:
    """Makes the machine of a backend.

    Args:
        backend: One of `BACKENDS`.
        setup: What is played.
        image: Reads the planes of our own console's screen.
        strict_stage: Fail when the machine begins another level than the one asked for; otherwise
            it warns once and continues.

    Raises:
        ConfigError: For an unknown backend, or parameters that it cannot do.
        BackendError: When its package is missing or of a version that was not tested.
    """
    check_backend(backend)
    if backend == "nes-py":
        from warpzone.envs.backends.nes_py import NesPyMachine

        return NesPyMachine(setup, strict_stage=strict_stage)
    from warpzone.envs.backends.native import NativeMachine

    return NativeMachine(setup, image)
