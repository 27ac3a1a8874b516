"""Where along a level episodes are lost."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Passes over which the danger of a stretch is averaged.
_PASSES_BACK = 50
# A place is good to begin at when danger lies within so many stretches: near enough to be met
# often, far enough for a good run-up.
_AHEAD = 5
# What a place without any danger still weighs, so that nothing is forgotten.
_LEAST = 0.05


class Hazards:
    """For each stretch of a level, the chance that an episode which comes by ends there."""

    def __init__(self, spacing: int):
        """Knows of no danger yet.

        Args:
            spacing: Pixels of a stretch, along the level.
        """
        self._spacing = spacing
        self._chances: NDArray[np.float64] = np.zeros(0)

    def ended(self, begin: int, end: int, *, lost: bool) -> None:
        """Takes note of an episode.

        Args:
            begin: Where it began, in pixels along the level.
            end: Where it ended.
            lost: Whether it was lost there.
        """
        first, last = max(begin, 0) // self._spacing, max(end, 0) // self._spacing
        if last >= len(self._chances):
            self._chances = np.concatenate([self._chances, np.zeros(last + 1 - len(self._chances))])
        self._chances[first : last + 1] *= 1.0 - 1.0 / _PASSES_BACK
        if lost:
            self._chances[last] += 1.0 / _PASSES_BACK

    def weights(self, distances: NDArray[np.int64]) -> NDArray[np.float64]:
        """How much practice each of some places deserves, in shares of 1."""
        first = np.maximum(distances, 0) // self._spacing
        sums = np.concatenate([[0.0], np.cumsum(self._chances)])
        last = len(self._chances)
        ahead = sums[np.minimum(first + _AHEAD, last)] - sums[np.minimum(first, last)]
        deserved = ahead + _LEAST
        weights: NDArray[np.float64] = deserved / deserved.sum()
        return weights

    def state_dict(self) -> dict[str, Any]:
        """The chances, as plain data."""
        return {"chances": self._chances.tolist()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from a saved state."""
        self._chances = np.array(state["chances"], np.float64)
