"""Stable-Baselines3 on the vector environment.

Example:
    >>> env = SB3VecEnv(warpzone.make_vec("1-1", num_envs=16, autoreset="same-step"))
    >>> PPO("CnnPolicy", env).learn(1_000_000)
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from numpy.typing import NDArray

from warpzone.envs.lazy_info import LazyInfo
from warpzone.errors import ConfigError, MissingExtraError
from warpzone.step_info import step_info

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.preprocessing import get_flattened_obs_dim
    from stable_baselines3.common.torch_layers import CombinedExtractor
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise MissingExtraError(
        'stable-baselines3 is not installed; run `pip install "warpzone[sb3]"`', name=error.name
    ) from error

Indices = int | Iterable[int] | None


class SB3VecEnv(VecEnv):
    """A vector environment as Stable-Baselines3 expects it.

    Takes `warpzone.make_vec(...)`, or that in any of Gymnasium's vector wrappers: SB3 sees the
    rewards, observations and infos that the wrappers return. The infos of a step are built when
    they are read, so that unread ones cost little. Where an episode ended, an info
    holds the statistics that SB3's `Monitor` would add: no further wrapper is needed. `info` is the
    info of the last step for all environments.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        """Wraps `env`, which must use `autoreset="same-step"`."""
        if (env.metadata or {}).get("autoreset_mode") is not AutoresetMode.SAME_STEP:
            raise ConfigError(
                "Stable-Baselines3 needs an environment that resets within the step; create it "
                "with autoreset='same-step'"
            )
        self.env = env
        self.info: dict[str, Any] = {}
        self._actions: Any = None
        self._returns = np.zeros(env.num_envs)
        self._lengths = np.zeros(env.num_envs, np.int64)
        self._began = np.zeros(env.num_envs)
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    def reset(self) -> Any:
        """Begins an episode in every environment, with what `seed` and `set_options` have set."""
        seeds: Any = None if all(seed is None for seed in self._seeds) else self._seeds
        obs, self.info = self.env.reset(seed=seeds, options=self._common_options())
        self._reset_seeds()
        self._reset_options()
        self._returns[:] = 0.0
        self._lengths[:] = 0
        self._began[:] = time.time()
        self.reset_infos = _env_infos(self.info, self.num_envs)
        return obs

    def _common_options(self) -> dict[str, Any] | None:
        first = self._options[0]
        if any(options.keys() != first.keys() for options in self._options) or any(
            not np.array_equal(options[name], first[name])
            for options in self._options
            for name in first
        ):
            raise ConfigError(
                "reset options differ between environments; give one dict for all of them, or use "
                "set_level and set_start_state of the vector environment"
            )
        return first or None

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keeps the actions for `step_wait`, which runs the environments on their own threads."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Takes one step; where an episode ended, a new one has begun."""
        obs, reward, terminated, truncated, info = self.env.step(self._actions)
        self.info = step_info(info)
        self._returns += reward
        self._lengths += 1
        dones = terminated | truncated
        infos = _env_infos(self.info, self.num_envs)
        for index in np.flatnonzero(dones):
            infos[index] = self._end_of_episode(int(index), bool(truncated[index]))
        return obs, np.asarray(reward, np.float32), dones, infos

    def _end_of_episode(self, index: int, truncated: bool) -> dict[str, Any]:
        now = time.time()
        info = {
            **_row(self.info, index),  # What wrappers have added.
            **_row(self.info["final_info"], index),
            "terminal_observation": _row(self.info["final_obs"], index),
            "TimeLimit.truncated": truncated,
            "episode": {
                "r": round(float(self._returns[index]), 6),
                "l": int(self._lengths[index]),
                "t": round(now - self._began[index], 6),
            },
        }
        self._returns[index] = 0.0
        self._lengths[index] = 0
        self._began[index] = now
        return info

    def close(self) -> None:
        """Closes the environment."""
        self.env.close()

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Returns the frame of every environment."""
        images: Any = self.env.render()
        return images or [None] * self.num_envs

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Returns an attribute of the vector environment, once for every requested environment."""
        return [self._attribute(attr_name)] * self._count(indices)

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Sets an attribute where it is stored, in the environment or a wrapper; all share it."""
        owner = next((layer for layer in self._layers() if attr_name in vars(layer)), self.env)
        setattr(owner, attr_name, value)

    def env_method(
        self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any
    ) -> list[Any]:
        """Calls a method of the vector environment once; the result stands for each environment."""
        return [self._attribute(method_name)(*args, **kwargs)] * self._count(indices)

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """Whether a wrapper is among those of the vector environment.

        True for `Monitor` as well, since infos hold its statistics.
        """
        wrapped = wrapper_class is Monitor or any(
            isinstance(layer, wrapper_class) for layer in self._layers()
        )
        return [wrapped] * self._count(indices)

    def _layers(self) -> Iterator[VectorEnv[Any, Any, Any]]:
        """The wrappers from the outermost to the innermost, then the environment itself."""
        layer = self.env
        while isinstance(layer, VectorWrapper):
            yield layer
            layer = layer.env
        yield layer

    def _attribute(self, name: str) -> Any:
        """An attribute of the outermost layer that has it; Gymnasium's wrappers hide the others."""
        for layer in self._layers():
            if hasattr(layer, name):
                return getattr(layer, name)
        raise AttributeError(f"the vector environment has no attribute {name!r}")

    def _count(self, indices: Indices) -> int:
        return len(list(self._get_indices(indices)))


#: Reported under SB3's names instead.
_FINAL = ("final_obs", "final_info")


def _env_infos(info: dict[str, Any], num_envs: int) -> list[dict[str, Any]]:
    """Splits a batched info into one info per environment, each built when it is read."""
    masks = _masks(info)
    if not any(mask is not None for mask in masks.values()):
        names = dict.fromkeys(masks)
        return [LazyInfo(names, _EnvInfo(info, index, names)) for index in range(num_envs)]
    infos: list[dict[str, Any]] = []
    for index in range(num_envs):
        names = dict.fromkeys(_present(masks, index))
        infos.append(LazyInfo(names, _EnvInfo(info, index, names)))
    return infos


class _EnvInfo:
    """The fields of one environment, from which a `LazyInfo` is built."""

    __slots__ = ("_index", "_info", "_names")

    def __init__(self, info: dict[str, Any], index: int, names: Iterable[str]) -> None:
        self._info, self._index, self._names = info, index, names

    def one(self, name: str) -> Any:
        """Returns one field."""
        return _row(self._info[name], self._index)

    def all(self) -> dict[str, Any]:
        """Returns every field."""
        return {name: self.one(name) for name in self._names}


def _masks(info: dict[str, Any]) -> dict[str, Any]:
    """The fields of a batched info, each with the mask of the environments that have it.

    Gymnasium gives the mask of `name` as `_name`. A field without one holds for all environments.
    """
    return {
        name: info.get(f"_{name}")
        for name in info
        if name not in _FINAL and not (name.startswith("_") and name[1:] in info)
    }


def _present(masks: dict[str, Any], index: int) -> Iterator[str]:
    return (name for name, mask in masks.items() if mask is None or mask[index])


def _row(batch: Any, index: int) -> Any:
    """One environment's part of a batch; single numbers as Python's own."""
    if isinstance(batch, dict):
        return {name: _row(batch[name], index) for name in _present(_masks(batch), index)}
    part = batch[index]
    return part.item() if isinstance(part, np.generic) else part


class TilesExtractor(CombinedExtractor):
    """Features of `obs="tiles"` for SB3's `MultiInputPolicy`: the grid and the features, flat.

    SB3's own extractor takes the tile grid for an image and wants at least 36 x 36 pixels.

    Example:
        >>> kwargs = {"features_extractor_class": TilesExtractor, "net_arch": [256, 128]}
        >>> PPO("MultiInputPolicy", env, policy_kwargs=kwargs)
    """

    def __init__(self, observation_space: spaces.Dict, normalized_image: bool = False) -> None:
        """Prepares the extractor.

        Args:
            observation_space: Of one environment, with "tiles" and "features".
            normalized_image: Set by SB3 when the policy does not divide images by 255.
        """
        flat: dict[str, spaces.Space[Any]] = {
            name: spaces.Box(0, 255, (get_flattened_obs_dim(box),), np.uint8)
            for name, box in observation_space.spaces.items()
        }
        super().__init__(spaces.Dict(flat))
        # SB3 divides the grid, which it takes for an image, but not the features.
        self._scales = {"tiles": 1 / 255 if normalized_image else 1.0, "features": 1 / 255}

    def forward(self, observations: dict[str, Any]) -> Any:
        """Returns all values of an observation as one row, each between 0 and 1."""
        return super().forward(
            {name: values * self._scales[name] for name, values in observations.items()}
        )
