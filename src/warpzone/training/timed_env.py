"""Environments whose steps are timed."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from warpzone.models.tree import Arrays
from warpzone.rollout.rollout_env import Info, RolloutEnv, StepInfo


class StepWatch(Protocol):
    """Learns when each step begins and ends."""

    def begin(self) -> None:
        """A step begins."""

    def end(self) -> None:
        """The step has ended."""


class TimedEnv:
    """Passes every call on, and reports to a watch when each step begins and ends."""

    def __init__(self, env: RolloutEnv, watch: StepWatch):
        """Wraps environments."""
        self._env, self._watch = env, watch
        self.num_envs = env.num_envs
        self.obs_spaces = env.obs_spaces

    def reset(self, *, seed: int | None = None) -> tuple[Arrays, Info]:
        """Begins an episode in every environment."""
        return self._env.reset(seed=seed)

    def step_into(
        self,
        actions: NDArray[np.int64],
        obs: Arrays,
        reward: NDArray[np.float32],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
    ) -> StepInfo:
        """Steps every environment."""
        self._watch.begin()
        try:
            return self._env.step_into(actions, obs, reward, terminated, truncated)
        finally:
            self._watch.end()
