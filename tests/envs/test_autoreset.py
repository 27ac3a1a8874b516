"""Same-step autoreset is Gymnasium's: `info` is the new episode's, `final_info` the old one's."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
import pytest
from env_support import STATUS_NAMES, held_actions
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import warpzone
from warpzone.envs.vectors.make import make_vector_env
from warpzone.step_info import step_info

ENVS, STEPS = 3, 60
FINAL = {"final_obs", "_final_obs", "final_info", "_final_info"}


def assert_equal(got: Any, expected: Any, rows: Any, where: str) -> None:
    if expected.dtype == object:  # The classic info spells Mario's status as a word.
        expected = np.array([STATUS_NAMES.index(word) if word else 0 for word in expected])
    np.testing.assert_array_equal(got[rows], expected[rows], err_msg=where)


def assert_equal_infos(got: dict[str, Any], expected: dict[str, Any], where: str) -> None:
    """All fields of both, where Gymnasium's masks say that an environment has them."""
    names = {name for name in expected if not name.startswith("_")} - FINAL
    assert names == set(got) - FINAL
    for name in names:
        assert_equal(got[name], expected[name], expected[f"_{name}"], f"{name} {where}")


@pytest.mark.parametrize(
    ("obs", "reward", "vector"),
    [
        *itertools.product(["tiles", "pixels"], ["shaped", "classic"], ["native", "sync"]),
        ("tiles", "shaped", "async"),  # Slow to start, and each worker plays as 'sync' does.
    ],
)
def test_every_field_is_that_of_gymnasiums_own_vector(obs: str, reward: str, vector: str) -> None:
    options: dict[str, Any] = {"obs": obs, "reward": reward, "sticky_prob": 0.25, "noop_max": 20}
    options |= {"max_steps": 17, "size": 24} if obs == "pixels" else {"max_steps": 17}
    ours = make_vector_env("1-1", num_envs=ENVS, vector=vector, autoreset="same-step", **options)
    gymnasiums = SyncVectorEnv(
        [partial(warpzone.MarioEnv, "1-1", **options)] * ENVS,
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    _, info = ours.reset(seed=3)
    _, expected_info = gymnasiums.reset(seed=3)
    assert_equal_infos(info, expected_info, "at reset")
    ends = 0
    for number, actions in enumerate(held_actions(1, ENVS, STEPS)):
        where = f"at step {number}"
        got, reward_, terminated, truncated, info = ours.step(actions)
        expected = gymnasiums.step(actions)
        np.testing.assert_array_equal(reward_, expected[1].astype(np.float32), err_msg=where)
        np.testing.assert_array_equal(terminated, expected[2], err_msg=where)
        np.testing.assert_array_equal(truncated, expected[3], err_msg=where)
        assert_equal_infos(info, expected[4], where)
        assert FINAL & set(info) == FINAL & set(expected[4]), where
        if "final_info" in info:
            ends += 1
            np.testing.assert_array_equal(info["_final_info"], expected[4]["_final_info"])
            assert_equal_infos(info["final_info"], expected[4]["final_info"], f"final {where}")
            for index in np.flatnonzero(info["_final_obs"]):
                last = expected[4]["final_obs"][index]
                if obs == "tiles":
                    for name, array in last.items():
                        np.testing.assert_array_equal(info["final_obs"][name][index], array)
                else:
                    np.testing.assert_array_equal(info["final_obs"][index], last)
        first = got["tiles"] if obs == "tiles" else got
        second = expected[0]["tiles"] if obs == "tiles" else expected[0]
        np.testing.assert_array_equal(first, second, err_msg=where)
    assert ends > 2
    ours.close()
    gymnasiums.close()


def test_the_info_of_the_step_has_final_values_only_where_an_episode_ended() -> None:
    env = warpzone.make_vec("1-1", num_envs=2, obs="tiles", autoreset="same-step")
    env.set_step_limit(4, [1])
    env.reset(seed=0)
    for number in range(1, 9):
        info = env.step([3, 3])[4]
        merged = step_info(info)
        assert merged["steps"].tolist() == [number, (number - 1) % 4 + 1]
        if number % 4 == 0:
            assert info["steps"].tolist() == [number, 0], "the new episode's"
            assert info["final_info"]["steps"].tolist() == [0, 4]
            assert merged["end_reason"].tolist()[0] == 0
            assert merged["end_reason"].tolist()[1] != 0
            assert info["end_reason"].tolist() == [0, 0], "the argument is not changed"
        else:
            assert merged is info
