"""`info["end_reason"]` says why an episode ended, with the same words everywhere."""

from __future__ import annotations

from typing import Any

import pytest
from env_support import NOOP, RIGHT_RUN, RIGHT_RUN_JUMP

import warpzone
from warpzone import _native
from warpzone.envs.endings import DEATHS, END_REASONS, end_name, end_number, is_truncation

TO_THE_FLAG = [*[RIGHT_RUN_JUMP] * 8, *[RIGHT_RUN] * 4] * 12


def ends_of(actions: list[int], level: str = "1-1", **options: Any) -> tuple[str, str, bool, bool]:
    """The reasons in the single and the vector env, and how the former ended."""
    options = {"obs": "tiles", **options}
    single = warpzone.MarioEnv(level, **options)
    vector = warpzone.make_vec(level, num_envs=1, autoreset="disabled", **options)
    _, info = single.reset(seed=0)
    assert info["end_reason"] == end_number("running")
    _, batch = vector.reset(seed=0)
    assert batch["end_reason"][0] == end_number("running")
    for action in actions:
        _, _, terminated, truncated, info = single.step(action)
        _, _, _, _, batch = vector.step([action])
        if terminated or truncated:
            break
        assert info["end_reason"] == batch["end_reason"][0] == end_number("running")
    names = end_name(info["end_reason"]), end_name(int(batch["end_reason"][0]))
    return *names, terminated, truncated


@pytest.mark.parametrize("reward", ["shaped", "classic"])
@pytest.mark.parametrize(
    ("reason", "actions", "options"),
    [
        pytest.param("enemy", [RIGHT_RUN] * 100, {}, id="enemy"),
        pytest.param("step_limit", [NOOP] * 10, {"max_steps": 7}, id="step-limit"),
        pytest.param("stagnation", [NOOP] * 20, {"stagnation_limit": 9}, id="stagnation"),
        pytest.param("game_over", [RIGHT_RUN] * 1500, {"level": "game"}, id="game-over"),
    ],
)
def test_both_envs_give_the_reason(
    reason: str, actions: list[int], options: dict[str, Any], reward: str
) -> None:
    single, vector, terminated, truncated = ends_of(actions, reward=reward, **options)
    assert (single, vector) == (reason, reason)
    assert truncated == is_truncation(reason)
    assert terminated != truncated


@pytest.mark.parametrize("reward", ["shaped", "classic"])
def test_a_cleared_level_ends_with_a_clear(before_the_flag: bytes, reward: str) -> None:
    ends = ends_of(TO_THE_FLAG, reward=reward, start_state=before_the_flag)
    assert ends == ("clear", "clear", True, False)


def test_a_step_limit_of_one_env_is_a_step_limit() -> None:
    env = warpzone.make_vec("1-1", num_envs=2, obs="tiles", autoreset="disabled")
    env.set_step_limit(3, [1])
    env.reset(seed=0)
    for _ in range(3):
        _, _, _, truncated, info = env.step([NOOP, NOOP])
    assert truncated.tolist() == [False, True]
    assert [end_name(number) for number in info["end_reason"].tolist()] == ["running", "step_limit"]


def test_numbers_and_names_belong_together() -> None:
    assert list(END_REASONS) == list(_native.END_REASONS)
    assert [end_number(end_name(number)) for number in range(len(END_REASONS))] == list(
        range(len(END_REASONS))
    )
    assert set(DEATHS) < set(END_REASONS)
