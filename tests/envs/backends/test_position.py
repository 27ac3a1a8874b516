"""x from RAM where an environment reports none."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import warpzone
from warpzone.envs.backends.position import XPosition


class Silent(gym.Wrapper[Any, Any, Any, Any]):
    """An environment that does not report x."""

    def step(self, action: Any) -> Any:
        *result, info = self.env.step(action)
        return *result, {name: value for name, value in info.items() if name != "x_pos"}


class Broken(gym.Env[Any, Any]):
    """No x, and no RAM."""

    observation_space = gym.spaces.Discrete(2)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return 0, {"x_pos": 40}

    def step(self, action: Any) -> Any:
        return 0, 0.0, False, False, {}


def test_ram_stands_in_for_a_backend_that_reports_no_x() -> None:
    env = warpzone.MarioEnv("1-1", backend="nes-py", obs="tiles")
    silent = XPosition(Silent(env))
    _, info = silent.reset(seed=0)
    assert (info["x_pos"], info["x_source"]) == (40, "backend")
    for _ in range(12):
        *_, info = silent.step(3)
    assert (info["x_source"], info["x_failures"]) == ("ram", 0)
    assert info["x_pos"] == int(env.ram()[0x6D]) * 256 + int(env.ram()[0x86]) > 45
    env.close()


def test_addresses_can_be_set() -> None:
    ram = np.arange(8, dtype=np.uint8)
    env = XPosition(Broken(), addresses=(1, 3), read_ram=lambda: ram)
    env.reset()
    *_, info = env.step(0)
    assert info["x_pos"] == 1 * 256 + 3


def test_failures_are_counted_and_past_the_limit_hinted_at_once() -> None:
    env = XPosition(Broken(), failures_allowed=2)
    env.reset()
    for failures in (1, 2):
        *_, info = env.step(0)
        assert (info["x_pos"], info["x_source"], info["x_failures"]) == (40, "last", failures)
    with pytest.warns(RuntimeWarning, match=r"\[hint\] x could not be read from RAM 3 times"):
        env.step(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        *_, info = env.step(0)
    assert (info["x_pos"], info["x_failures"]) == (40, 3)
