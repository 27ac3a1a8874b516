"""Rewards that are a function of infos, in place of the environment's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from numpy.typing import ArrayLike, NDArray

from warpzone.errors import PluginError
from warpzone.step_info import step_info

RewardFunction = Callable[[Mapping[str, Any], Mapping[str, Any]], ArrayLike]
"""From the info of a step and the info before it to one reward per environment."""


if TYPE_CHECKING:
    _Wrapper = VectorWrapper[Any, Any, Any, Any, Any]
else:
    _Wrapper = VectorWrapper  # Before Gymnasium 1.4 it takes no type parameters.


class InfoReward(_Wrapper):
    """Replaces rewards by a function of the info of a step and the info before it.

    At the first step of an episode the info before it is that of the reset; at the last step, the
    info is that of the episode's end. This holds for every autoreset mode, so no difference ever
    spans two episodes. With next-step autoreset the step that only resets has the reward 0.

    Example:
        >>> env = warpzone.make_vec("1-1", num_envs=16)
        >>> env = InfoReward(env, lambda info, previous: info["coins"] - previous["coins"])
    """

    def __init__(
        self, env: VectorEnv[Any, Any, Any], function: RewardFunction, name: str | None = None
    ):
        """Wraps a vector environment.

        Args:
            env: The environment.
            function: Takes two infos, dicts of arrays with one value per environment, and returns
                one finite number per environment.
            name: What errors call it; by default the function's own name.
        """
        super().__init__(env)
        self._function = function
        self._name = name or str(getattr(function, "__name__", function))
        self._previous: Mapping[str, Any] = {}
        self._resets = np.zeros(env.num_envs, np.bool_)
        self._next_step = (env.metadata or {}).get("autoreset_mode") is AutoresetMode.NEXT_STEP

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins episodes; see the environment."""
        obs, info = self.env.reset(seed=seed, options=options)
        self.begin_from(info)
        return obs, info

    def step(
        self, actions: Any
    ) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Takes a step and computes its rewards.

        Raises:
            PluginError: The function failed, or did not return a finite number per environment.
        """
        obs, _, terminated, truncated, info = self.env.step(actions)
        reward = self._reward(step_info(info))
        if self._next_step:
            reward[self._resets] = 0.0
            self._resets = terminated | truncated
        self._previous = info
        return obs, reward, terminated, truncated, info

    def begin_from(self, info: Mapping[str, Any]) -> None:
        """Takes an info as the one before the next step, for example after `load_state`."""
        self._previous = info
        self._resets[:] = False

    def _reward(self, info: Mapping[str, Any]) -> NDArray[np.float32]:
        try:
            given = np.asarray(self._function(info, self._previous))
            reward = given.astype(np.float32)
        except Exception as error:
            raise PluginError(
                f"the reward {self._name!r} failed: {type(error).__name__}: {error}"
            ) from error
        if given.shape != (self.num_envs,):
            raise PluginError(
                f"the reward {self._name!r} returned an array of shape {given.shape}; it must "
                f"return one number per environment, shape ({self.num_envs},)"
            )
        wrong = np.flatnonzero(~np.isfinite(reward))
        if wrong.size:
            raise PluginError(
                f"the reward {self._name!r} returned {given[wrong[0]]} for environment {wrong[0]}; "
                "rewards must be finite"
            )
        return reward
