"""Our own console as an environment's machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warpzone import _native
from warpzone.envs.backends.start import Start
from warpzone.envs.console import Console
from warpzone.envs.setup import EnvSetup


class NativeMachine(Console):
    """A `Console` that knows how to start its game and read its screen."""

    def __init__(self, setup: EnvSetup, image: _native.ImageWriter) -> None:
        """Switches the console on."""
        super().__init__(setup.image, exact=setup.config.exact)
        self._setup = setup
        self._image = image
        self._starts: dict[tuple[str, Start], bytes] = {}

    def begin(self, level: str, start: Start) -> None:
        """Goes to the start of a level, which is played from power-on only once."""
        if (level, start) not in self._starts:
            scout = Console(self._setup.image, exact=self._setup.config.exact)
            _native.start(
                scout, self._setup.game, level, start.power, start.halfway, start.announced
            )
            self._starts[level, start] = scout.save()
        self.load(self._starts[level, start])

    def resume(self, state: bytes) -> None:
        """Goes to a save state of a console or of an environment."""
        self.load(_native.console_state(state))

    def skip_scripted(self) -> None:
        """Runs on to the next moment in which Mario obeys."""
        _native.classic_skip_scripted(self)

    def draw_ahead(self) -> None:
        """Draws the next frame and takes it back: the screen is not part of the machine's state."""
        here = self.save()
        self.run_frame(0, render=True)
        self.load(here)

    def grey(self) -> NDArray[np.uint8]:
        """Brightness of the screen."""
        return self._image.grey(self)

    def rgb(self) -> NDArray[np.uint8]:
        """The screen in color, 3 x 240 x 256."""
        return self._image.rgb(self)

    def close(self) -> None:
        """Nothing to free: everything is freed with the object."""


def check_start(image: bytes, game: str) -> None:
    """Starts the first level from power-on.

    Raises:
        EnvError: If the image does not get that far.
    """
    _native.start(Console(image), game, "1-1", 0, False)
