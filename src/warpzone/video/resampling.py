"""Resampling of frames from one rate to another."""

from __future__ import annotations


class Resampler:
    """Tells how often each frame appears at the new rate; the first appears once."""

    def __init__(self, rate: float) -> None:
        """Creates a resampler.

        Args:
            rate: New frames per frame: 0.5 keeps every second frame, 2 shows each frame twice.
        """
        self._rate = rate
        self._frames = 0

    def copies(self) -> int:
        """Returns how often the next frame appears; 0 drops it."""
        index = self._frames
        self._frames += 1
        return int(index * self._rate) - int((index - 1) * self._rate) if index else 1
