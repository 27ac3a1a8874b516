"""Rewards that are a function of infos, whichever way episodes begin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import TransformReward

import warpzone
from warpzone.envs.info_reward import InfoReward, RewardFunction
from warpzone.errors import PluginError

ENVS, LENGTH = 3, 5


def steps_taken(info: Any, previous: Any) -> Any:
    return info["steps"] - previous["steps"]


def make(function: RewardFunction = steps_taken, **options: Any) -> InfoReward:
    options = {"autoreset": "disabled", "max_steps": LENGTH} | options
    return InfoReward(warpzone.make_vec("1-1", num_envs=ENVS, num_threads=1, **options), function)


def right(env: InfoReward) -> Any:
    return np.ones(env.num_envs, np.int64)


@pytest.mark.parametrize("autoreset", ["disabled", "same-step"])
def test_no_difference_spans_two_episodes(rom_path: Path, autoreset: str) -> None:
    env = make(autoreset=autoreset)
    env.reset(seed=0)
    for _ in range(3 * LENGTH):
        _, reward, terminated, truncated, _ = env.step(right(env))
        assert reward.tolist() == [1.0] * ENVS
        assert reward.dtype == np.float32
        ended = terminated | truncated
        if ended.any() and env.metadata["autoreset_mode"] is AutoresetMode.DISABLED:
            env.reset(options={"reset_mask": ended})


def test_the_step_that_only_resets_has_no_reward(rom_path: Path) -> None:
    env = make(autoreset="next-step")
    env.reset(seed=0)
    rewards = [env.step(right(env))[1][0] for _ in range(2 * LENGTH + 2)]
    assert rewards == ([1.0] * LENGTH + [0.0]) * 2


def test_a_reset_of_some_environments_leaves_the_others_as_they_are(rom_path: Path) -> None:
    env = make(max_steps=0)
    env.reset(seed=0)
    env.step(right(env))
    env.reset(options={"reset_mask": np.array([True, False, False])})
    _, reward, _, _, info = env.step(right(env))
    assert reward.tolist() == [1.0] * ENVS
    assert info["steps"].tolist() == [1, 2, 2]


def test_infos_and_observations_pass_through_and_wrappers_see_the_reward(rom_path: Path) -> None:
    plain = warpzone.make_vec("1-1", num_envs=ENVS, num_threads=1)
    doubled = TransformReward(make(autoreset="next-step", max_steps=0), lambda r: 2 * r)
    plain.reset(seed=0)
    doubled.reset(seed=0)
    for _ in range(4):
        expected = plain.step(right(doubled.env))
        obs, reward, _, _, info = doubled.step(right(doubled.env))
        assert np.array_equal(obs, expected[0])
        assert reward.tolist() == [2.0] * ENVS
        assert all(np.array_equal(info[name], expected[4][name]) for name in expected[4])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda info, previous: 1.0, r"shape \(\); it must return one number per environment"),
        (lambda info, previous: np.zeros(2), r"shape \(2,\)"),
        (lambda info, previous: np.array([0, np.nan, 0]), "returned nan for environment 1"),
        (lambda info, previous: np.full(ENVS, 1e300), r"returned 1e\+300 for environment 0"),
        (lambda info, previous: ["a"] * ENVS, "failed: ValueError"),
        (lambda info, previous: None, r"shape \(\)"),
        (lambda info, previous: info["coin"], "failed: KeyError: 'coin'"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_a_function_that_returns_something_else_is_refused(
    rom_path: Path, function: RewardFunction, message: str
) -> None:
    env = make(function)
    env.reset(seed=0)
    with pytest.raises(PluginError, match=message):
        env.step(right(env))
