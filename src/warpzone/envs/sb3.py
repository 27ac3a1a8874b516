"""Stable-Baselines3 on the vector environment.

Example:
    >>> env = SB3VecEnv(warpzone.make_vec("1-1", num_envs=16, autoreset="same-step"))
    >>> PPO("CnnPolicy", env).learn(1_000_000)
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.envs.vector import MarioVectorEnv
from warpzone.errors import ConfigError

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise ImportError(
        "stable-baselines3 is not installed; run `pip install 'warpzone[sb3]'`"
    ) from error

Indices = int | Iterable[int] | None


class SB3VecEnv(VecEnv):
    """A `MarioVectorEnv` as Stable-Baselines3 wants it.

    Infos are filled only where an episode ended, with everything known about its end, so that the
    other lanes cost nothing; `info` holds the arrays of the last step for all lanes. Episode
    returns and lengths are told as SB3's `Monitor` does: no further wrapper is needed.
    """

    def __init__(self, env: MarioVectorEnv) -> None:
        """Wraps `env`, which must have been made with `autoreset="same-step"`."""
        if env.config.autoreset != "same-step":
            raise ConfigError(
                f"autoreset is {env.config.autoreset!r}; Stable-Baselines3 needs an environment "
                "made with autoreset='same-step'"
            )
        self.env = env
        self.info: dict[str, Any] = {}
        self._actions: Any = None
        self._returns = np.zeros(env.num_envs)
        self._began = np.zeros(env.num_envs)
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    def reset(self) -> Any:
        """Begins an episode in every lane, with the seeds that `seed` has set."""
        if any(self._options):
            raise ConfigError("reset options are not supported; use env.set_level and the like")
        seeds = None if all(seed is None for seed in self._seeds) else self._seeds
        obs, self.info = self.env.reset(seed=seeds)
        self._reset_seeds()
        self._returns[:] = 0.0
        self._began[:] = time.time()
        self.reset_infos = [_of_lane(self.info, lane) for lane in range(self.num_envs)]
        return obs

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keeps the actions for `step_wait`: the lanes have threads of their own."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """One step of every lane; where an episode ended, a new one has begun."""
        obs, reward, terminated, truncated, self.info = self.env.step(self._actions)
        self._returns += reward
        dones = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if dones.any():
            for lane in np.flatnonzero(dones):
                infos[lane] = self._end_of_episode(int(lane), bool(truncated[lane]))
        return obs, reward, dones, infos

    def _end_of_episode(self, lane: int, truncated: bool) -> dict[str, Any]:
        now = time.time()
        info = _of_lane(self.info["final_info"], lane)
        final = self.info["final_obs"]
        info["terminal_observation"] = (
            {name: array[lane] for name, array in final.items()}
            if isinstance(final, dict)
            else final[lane]
        )
        info["TimeLimit.truncated"] = truncated
        info["episode"] = {
            "r": round(float(self._returns[lane]), 6),
            "l": int(info["steps"]),
            "t": round(now - self._began[lane], 6),
        }
        self._returns[lane] = 0.0
        self._began[lane] = now
        return info

    def close(self) -> None:
        """Closes the environment."""
        self.env.close()

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """The screen of every lane."""
        return self.env.render() or [None] * self.num_envs

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """An attribute of the vector environment, once for every asked lane."""
        return [getattr(self.env, attr_name)] * self._count(indices)

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Sets an attribute of the vector environment; lanes have none of their own."""
        setattr(self.env, attr_name, value)

    def env_method(
        self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any
    ) -> list[Any]:
        """Calls a method of the vector environment once; its result stands for each asked lane."""
        return [getattr(self.env, method_name)(*args, **kwargs)] * self._count(indices)

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """True for `Monitor`, whose statistics the infos hold; no other wrapper is there."""
        return [issubclass(wrapper_class, Monitor)] * self._count(indices)

    def _count(self, indices: Indices) -> int:
        return len(list(self._get_indices(indices)))


def _of_lane(info: dict[str, Any], lane: int) -> dict[str, Any]:
    """One lane's row of every array; single numbers as Python's own."""
    return {name: _plain(array[lane]) for name, array in info.items()}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
