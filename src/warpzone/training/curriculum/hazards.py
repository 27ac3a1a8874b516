"""Where along a level episodes are lost."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Passes over which the risk of a section is averaged.
_AVERAGED_PASSES = 50
# A place suits practice when risk lies within this many sections: near enough to be met often, far
# enough for a run-up.
_SECTIONS_AHEAD = 5
# Weight of a place without any risk ahead, so that nothing is forgotten.
_SMALLEST_WEIGHT = 0.05


class Hazards:
    """For each section of a level, the chance that an episode which reaches it ends there."""

    def __init__(self, spacing: int):
        """Begins without known risk.

        Args:
            spacing: Pixels of a section, along the level.
        """
        self._spacing = spacing
        self._chances: NDArray[np.float64] = np.zeros(0)

    def ended(self, begin: int, end: int, *, lost: bool) -> None:
        """Takes an episode.

        Args:
            begin: Where it began, in pixels along the level.
            end: Where it ended.
            lost: Whether it was lost there.
        """
        first, last = max(begin, 0) // self._spacing, max(end, 0) // self._spacing
        if last >= len(self._chances):
            self._chances = np.concatenate([self._chances, np.zeros(last + 1 - len(self._chances))])
        self._chances[first : last + 1] *= 1.0 - 1.0 / _AVERAGED_PASSES
        if lost:
            self._chances[last] += 1.0 / _AVERAGED_PASSES

    def weights(self, distances: NDArray[np.int64]) -> NDArray[np.float64]:
        """How much practice each place deserves; the weights add up to 1."""
        first = np.maximum(distances, 0) // self._spacing
        sums = np.concatenate([[0.0], np.cumsum(self._chances)])
        last = len(self._chances)
        ahead = sums[np.minimum(first + _SECTIONS_AHEAD, last)] - sums[np.minimum(first, last)]
        deserved = ahead + _SMALLEST_WEIGHT
        weights: NDArray[np.float64] = deserved / deserved.sum()
        return weights

    def state_dict(self) -> dict[str, Any]:
        """The chances, as plain data."""
        return {"chances": self._chances.tolist()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores what `state_dict` returned."""
        self._chances = np.array(state["chances"], np.float64)
