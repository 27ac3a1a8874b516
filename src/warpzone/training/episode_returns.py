"""Returns of episodes, as sums of the rewards that training sees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class EpisodeReturns:
    """Adds up rewards per environment."""

    def __init__(self, num_envs: int):
        """Begins new episodes."""
        self._sums = np.zeros(num_envs)

    def add(self, rewards: NDArray[np.float32], ended: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Adds the rewards of a step; returns the sums, which begin again where episodes ended."""
        self._sums += rewards
        sums = self._sums.copy()
        self._sums[ended] = 0.0
        return sums

    def state_dict(self) -> dict[str, Any]:
        """The sums of the present episodes."""
        return {"sums": self._sums.tolist()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores what `state_dict` returned."""
        self._sums = np.asarray(state["sums"], np.float64)
