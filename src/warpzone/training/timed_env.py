"""Environments with timed steps."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from warpzone.models.tree import Arrays
from warpzone.rollout.rollout_env import Info, RolloutEnv, StepInfo


class StepWatch(Protocol):
    """Notified when each step begins and ends."""

    def begin(self) -> None:
        """Called when a step begins."""

    def end(self) -> None:
        """Called when the step has ended."""


class TimedEnv:
    """Forwards all calls, and notifies a watch when each step begins and ends."""

    def __init__(self, env: RolloutEnv, watch: StepWatch):
        """Wraps environments."""
        self._env, self._watch = env, watch
        self.num_envs = env.num_envs
        self.obs_spaces = env.obs_spaces

    def reset(self, *, seed: int | None = None) -> tuple[Arrays, Info]:
        """Resets all environments."""
        return self._env.reset(seed=seed)

    def step_into(
        self,
        actions: NDArray[np.int64],
        obs: Arrays,
        reward: NDArray[np.float32],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
    ) -> StepInfo:
        """Steps all environments."""
        self._watch.begin()
        try:
            return self._env.step_into(actions, obs, reward, terminated, truncated)
        finally:
            self._watch.end()
