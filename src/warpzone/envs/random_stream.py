"""The random numbers of an environment: SplitMix64, as the native pool draws them."""

from __future__ import annotations

_MASK = (1 << 64) - 1


class RandomStream:
    """Draws the same numbers as a native environment with the same seed."""

    def __init__(self, seed: int) -> None:
        """Starts the stream of a seed."""
        self.state = seed & _MASK

    def _next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & _MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def uniform(self) -> float:
        """In [0, 1)."""
        return (self._next() >> 11) * 2.0**-53

    def below(self, bound: int) -> int:
        """In [0, bound)."""
        return ((self._next() >> 32) * bound) >> 32
