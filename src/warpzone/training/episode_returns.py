"""Episode returns, as sums of the rewards that training uses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class EpisodeReturns:
    """Sums rewards per environment."""

    def __init__(self, num_envs: int):
        """Creates sums of 0."""
        self._sums = np.zeros(num_envs)

    def add(self, rewards: NDArray[np.float32], ended: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Adds the rewards of a step and returns the sums; resets those of ended episodes."""
        self._sums += rewards
        sums = self._sums.copy()
        self._sums[ended] = 0.0
        return sums

    def state_dict(self) -> dict[str, Any]:
        """Returns the sums of the current episodes."""
        return {"sums": self._sums.tolist()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self._sums = np.asarray(state["sums"], np.float64)
