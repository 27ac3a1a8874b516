"""An environment whose steps are timed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.rollout.collector import Info, RolloutEnv
from warpzone.telemetry.watchdog import SlowSteps


class TimedEnv:
    """Passes everything on to the games and tells a watchdog when each step begins and ends."""

    def __init__(self, games: RolloutEnv, watchdog: SlowSteps):
        """Wraps games."""
        self._games, self._watchdog = games, watchdog
        self.num_envs = games.num_envs
        self.single_observation_space = games.single_observation_space

    def reset(self, *, seed: int | None = None) -> tuple[Any, Info]:
        """Begins an episode in every lane."""
        return self._games.reset(seed=seed)

    def step_into(
        self,
        actions: NDArray[np.int64],
        obs: Any,
        reward: NDArray[np.float32],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
    ) -> Info:
        """Steps every lane."""
        self._watchdog.begin()
        try:
            return self._games.step_into(actions, obs, reward, terminated, truncated)
        finally:
            self._watchdog.end()
