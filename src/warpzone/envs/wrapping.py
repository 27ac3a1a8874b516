"""Users' wrappers around vector environments, and episodes inside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from warpzone.errors import ConfigError

Vector = VectorEnv[Any, Any, Any]
Wrap = Callable[[Vector], Vector]
"""Puts wrappers around a vector environment."""


def wrapped(env: Vector, wrap: Wrap) -> Vector:
    """Puts wrappers around a vector environment.

    Raises:
        ConfigError: What `wrap` returns is not around the environment.
    """
    outer = wrap(env)
    if not isinstance(outer, VectorEnv) or outer.unwrapped is not env.unwrapped:
        raise ConfigError(
            "wrap must return a gymnasium.vector.VectorWrapper around the environments that it is "
            f"given, not {outer!r}"
        )
    return outer


class EpisodeEnv:
    """Plays one episode after another in each environment, inside wrappers or not.

    Where an episode ends, the next one begins within the step, but the info is that of the end.
    """

    def __init__(self, env: Vector, wrap: Wrap | None = None):
        """Takes an environment with autoreset disabled, and wrappers to put around it.

        Raises:
            ConfigError: What `wrap` returns is not around the environment.
        """
        self._env = env if wrap is None else wrapped(env, wrap)
        self.num_envs = env.num_envs

    def reset(self, seed: int) -> Any:
        """Begins an episode in every environment and returns observations."""
        return self._env.reset(seed=seed)[0]

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], dict[str, Any]]:
        """Takes a step.

        Returns:
            Observations, rewards, where an episode ended, and the info of the step.
        """
        obs, reward, terminated, truncated, info = self._env.step(actions)
        ended = terminated | truncated
        if ended.any():
            obs, _ = self._env.reset(options={"reset_mask": ended})
        return obs, reward, ended, info
