"""Plays the sound of the game through pygame's mixer."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from warpzone.errors import WindowError
from warpzone.play.window import import_pygame

_RATE = 44_100
# The mixer plays one piece while the next one waits. Shorter pieces would leave gaps when a frame
# is late; longer ones delay the sound.
_PIECE = _RATE // 20
_MOST_PIECES = 3
_LOUDEST = 32_767


class MixerSpeaker:
    """A stream of samples, played in short pieces.

    Attributes:
        rate: Samples per second.
        volume: Percent of full volume; 0 is silent.
    """

    rate = _RATE

    def __init__(self, volume: int) -> None:
        """Creates a speaker.

        Args:
            volume: Percent of full volume.
        """
        self.volume = volume
        self._pygame = import_pygame()
        self._waiting = np.zeros(0, np.int16)

    def __enter__(self) -> Self:
        """Opens the sound device.

        Raises:
            WindowError: There is none.
        """
        try:
            self._pygame.mixer.init(_RATE, -16, 1, 1024)
        except self._pygame.error as error:
            raise WindowError(
                f"there is no sound device ({error}); play without sound: --volume 0"
            ) from error
        self._channel: Any = self._pygame.mixer.Channel(0)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes the sound device."""
        self._pygame.mixer.quit()

    def write(self, samples: NDArray[np.float32]) -> None:
        """Plays samples from -1 to 1 after those before."""
        scaled = np.clip(samples * (self.volume / 100), -1.0, 1.0) * _LOUDEST
        self._waiting = np.concatenate([self._waiting, scaled.astype(np.int16)])
        # The game may run slightly faster than the device plays: what is late is dropped.
        self._waiting = self._waiting[-_MOST_PIECES * _PIECE :]
        if len(self._waiting) < _PIECE or self._channel.get_queue() is not None:
            return
        piece = self._pygame.mixer.Sound(buffer=self._waiting[:_PIECE].tobytes())
        self._waiting = self._waiting[_PIECE:]
        if self._channel.get_busy():
            self._channel.queue(piece)
        else:
            self._channel.play(piece)
