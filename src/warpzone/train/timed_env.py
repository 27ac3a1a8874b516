"""An environment whose steps are timed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.rollout.collector import Info, RolloutEnv
from warpzone.telemetry.watchdog import SlowSteps


class TimedEnv:
    """Forwards everything to an environment and notes when each step begins and ends."""

    def __init__(self, env: RolloutEnv, watchdog: SlowSteps):
        """Wraps an environment."""
        self._env, self._watchdog = env, watchdog
        self.num_envs = env.num_envs
        self.single_observation_space = env.single_observation_space

    def reset(self, *, seed: int | None = None) -> tuple[Any, Info]:
        """Begins an episode in every environment."""
        return self._env.reset(seed=seed)

    def step_into(
        self,
        actions: NDArray[np.int64],
        obs: Any,
        reward: NDArray[np.float32],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
    ) -> Info:
        """Steps every environment."""
        self._watchdog.begin()
        try:
            return self._env.step_into(actions, obs, reward, terminated, truncated)
        finally:
            self._watchdog.end()
