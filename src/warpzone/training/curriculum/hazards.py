"""Estimates where along a level episodes fail."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Passes over which the risk of a section is averaged.
_AVERAGED_PASSES = 50
# A place is suited to practice if a risky section lies within this many sections: near enough to be
# reached often, far enough for a run-up.
_SECTIONS_AHEAD = 5
# Weight of a place without any risk ahead, so that no place is neglected.
_MIN_WEIGHT = 0.01


class Hazards:
    """Probability, per section of a level, that an episode that reaches it fails there."""

    def __init__(self, spacing: int):
        """Creates estimates without any risk.

        Args:
            spacing: Length of a section along the level, in pixels.
        """
        self._spacing = spacing
        self._chances: NDArray[np.float64] = np.zeros(0)

    def ended(self, begin: int, end: int, *, lost: bool) -> None:
        """Updates the estimates with an episode.

        Args:
            begin: Start of the episode, in pixels along the level.
            end: End of the episode, in pixels along the level.
            lost: Whether the episode failed at its end.
        """
        first, last = max(begin, 0) // self._spacing, max(end, 0) // self._spacing
        if last >= len(self._chances):
            self._chances = np.concatenate([self._chances, np.zeros(last + 1 - len(self._chances))])
        self._chances[first : last + 1] *= 1.0 - 1.0 / _AVERAGED_PASSES
        if lost:
            self._chances[last] += 1.0 / _AVERAGED_PASSES

    def weights(self, distances: NDArray[np.int64]) -> NDArray[np.float64]:
        """Returns the practice weights of places; they sum to 1."""
        first = np.maximum(distances, 0) // self._spacing
        sums = np.concatenate([[0.0], np.cumsum(self._chances)])
        last = len(self._chances)
        ahead = sums[np.minimum(first + _SECTIONS_AHEAD, last)] - sums[np.minimum(first, last)]
        deserved = ahead + _MIN_WEIGHT
        weights: NDArray[np.float64] = deserved / deserved.sum()
        return weights

    def state_dict(self) -> dict[str, Any]:
        """Returns the estimates, as plain data."""
        return {"chances": self._chances.tolist()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self._chances = np.array(state["chances"], np.float64)
