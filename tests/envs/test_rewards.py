"""Reward: every term alone and together, on real play; annealing; changes while running."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from env_support import LEFT, NOOP, RIGHT, RIGHT_RUN, RIGHT_RUN_JUMP, held_actions
from numpy.typing import NDArray

import warpzone
from warpzone import _native
from warpzone.step_info import step_info

TERMS = _native.REWARD_TERMS
NOTHING = dict.fromkeys(TERMS, 0.0)
LANES, STEPS = 12, 150


def make(lanes: int = 1, level: Any = "1-1", **options: Any) -> warpzone.MarioVectorEnv:
    options = {"obs": "tiles"} | options
    return warpzone.make_vec(level, num_envs=lanes, num_threads=1, **options)


def only(**weights: Any) -> dict[str, Any]:
    return NOTHING | weights


def deltas(values: list[NDArray[np.int32]]) -> NDArray[np.int64]:
    return np.diff(np.array(values, np.int64), axis=0)


def real_play(**weights: Any) -> tuple[NDArray[np.float32], dict[str, NDArray[np.int64]]]:
    """Rewards, and what each step changed, on play with deaths that goes on after them."""
    env = make(LANES, one_life=False, one_level=False, weights=only(**weights))
    infos = [env.reset(seed=0)[1]]
    rewards = []
    for actions in held_actions(3, LANES, STEPS):
        _, reward, _, _, info = env.step(actions)
        rewards.append(reward)
        infos.append(info)
    names = ("progress", "score", "coins", "deaths", "clears")
    return np.array(rewards), {name: deltas([info[name] for info in infos]) for name in names}


@pytest.mark.parametrize(
    ("term", "fact", "sign"),
    [
        ("distance", "progress", 1),
        ("score", "score", 1),
        ("coin", "coins", 1),
        ("death", "deaths", -1),
    ],
)
def test_a_term_alone_pays_its_weight_for_what_happened(term: str, fact: str, sign: int) -> None:
    rewards, happened = real_play(**{term: 0.25})
    assert (happened[fact] > 0).any(), f"the play shows no {fact}"
    np.testing.assert_array_equal(rewards, sign * 0.25 * happened[fact])


def test_without_weights_nothing_is_paid() -> None:
    rewards, _ = real_play()
    assert not rewards.any()


def test_time_is_taken_away_at_every_step() -> None:
    rewards, _ = real_play(time=0.5)
    assert (rewards == -0.5).all()


def test_a_milestone_pays_once_for_every_so_many_pixels() -> None:
    rewards, happened = real_play(milestone=1.0, milestone_pixels=64)
    total = np.cumsum(happened["progress"], axis=0)
    passed = deltas([np.zeros(LANES, np.int32), *(total // 64)])
    np.testing.assert_array_equal(rewards, passed)
    assert rewards.sum() > LANES


def test_the_early_window_weighs_distance_more() -> None:
    rewards, happened = real_play(distance=0.5, early_steps=20, early_factor=3.0)
    np.testing.assert_array_equal(rewards[:20], 1.5 * happened["progress"][:20])
    np.testing.assert_array_equal(rewards[20:], 0.5 * happened["progress"][20:])


def test_a_clear_pays_once(before_the_flag: bytes) -> None:
    env = make(weights=only(clear=7.0), start_state=before_the_flag, autoreset="disabled")
    env.reset(seed=0)
    rewards = []
    for _ in range(120):
        action = RIGHT_RUN_JUMP if len(rewards) % 12 < 8 else RIGHT_RUN
        _, reward, terminated, _, info = env.step([action])
        rewards.append(float(reward[0]))
        if terminated[0]:
            break
    assert terminated[0]
    assert info["flag_get"][0]
    assert not info["death"][0]
    assert rewards == [0.0] * (len(rewards) - 1) + [7.0]


def test_the_scale_multiplies_every_term() -> None:
    weights = {"distance": 0.5, "time": 0.25, "death": 2.0, "score": 0.125}
    once, _ = real_play(**weights)
    fourfold, _ = real_play(**weights, scale=4.0)
    np.testing.assert_array_equal(fourfold, 4 * once)


@pytest.mark.parametrize("name", ["distance", "death", "scale"])
def test_a_weight_moves_in_a_straight_line_over_the_steps_of_the_run(name: str) -> None:
    steps = 100
    weights = {"distance": 0.5, "death": 1.0} | {name: (4.0, 1.0, steps)}
    rewards, happened = real_play(**weights)
    line = np.clip(4.0 - 3.0 * np.arange(STEPS) / steps, 1.0, 4.0)[:, None]
    distance = line if name == "distance" else 0.5
    death = line if name == "death" else 1.0
    scale = line if name == "scale" else 1.0
    expected = scale * (distance * happened["progress"] - death * happened["deaths"])
    np.testing.assert_allclose(rewards, expected, rtol=1e-6)


def test_annealing_counts_the_steps_of_the_run_not_of_the_episode() -> None:
    env = make(weights=only(scale=(1.0, 0.0, 20)) | {"time": 1.0}, max_steps=5)
    env.reset(seed=0)
    rewards = [float(env.step([NOOP])[1][0]) for _ in range(24)]
    played = [reward for reward in rewards if reward != 0.0]
    np.testing.assert_allclose(played, -(1 - np.arange(20) / 20), rtol=1e-6)


def test_new_weights_count_from_the_next_step_on() -> None:
    env, twin = make(weights=only(time=1.0)), make(weights=only(time=1.0))
    env.reset(seed=0)
    twin.reset(seed=0)
    assert env.step([RIGHT])[1].tolist() == [-1.0]
    env.set_reward_weights(time=3.0, distance=(2.0, 0.0, 10))
    assert env.reward_weights()["distance"] == (2.0, 0.0, 10)
    assert env.reward_weights()["time"] == 3.0
    assert env.reward_weights()["death"] == 0.0, "the others stay"
    _, reward, _, _, info = env.step([RIGHT])
    moved = int(info["progress"][0])
    assert reward[0] == pytest.approx(-3.0 + 2.0 * 0.9 * moved)
    assert info["reward_terms"][0, TERMS.index("time")] == -4.0, "the sums go on"
    twin.step([RIGHT])
    twin.step([RIGHT])
    np.testing.assert_array_equal(env.ram(), twin.ram(), "the game does not notice")


def test_new_weights_must_be_right_or_nothing_changes() -> None:
    env = make()
    before = env.reward_weights()
    for wrong in ({"distanze": 1.0}, {"time": float("nan")}, {"death": "much"}, {"clear": None}):
        with pytest.raises(warpzone.errors.ConfigError):
            env.set_reward_weights(**wrong)  # type: ignore[arg-type]
    assert env.reward_weights() == before


@pytest.mark.parametrize("seed", range(3))
def test_the_terms_of_an_episode_add_up_to_its_return(seed: int) -> None:
    everything = {"score": 0.01, "coin": 0.5, "milestone": 0.3, "milestone_pixels": 50}
    env = make(4, level="1-1,1-2,2-1,6-1", weights=everything, autoreset="same-step")
    env.reset(seed=seed)
    returns, checked = np.zeros(4), 0
    for actions in held_actions(seed, 4, 250):
        _, reward, terminated, truncated, info = env.step(actions)
        returns += reward
        terms = step_info(info)["reward_terms"]
        assert terms.shape == (4, len(TERMS))
        np.testing.assert_allclose(terms.sum(axis=1), returns, atol=1e-3)
        ended = terminated | truncated
        checked += int(ended.sum())
        returns[ended] = 0
    assert checked >= 4


def test_a_scripted_run_to_the_right_earns_more_than_nothing() -> None:
    env = make(obs="pixels")
    env.reset(seed=0)
    total = 0.0
    for step in range(100):
        _, reward, terminated, _, info = env.step([RIGHT_RUN_JUMP if step % 10 < 7 else RIGHT_RUN])
        total += float(reward[0])
        if terminated[0]:
            break
    assert total > 0
    assert info["progress"][0] > 200


def test_running_off_a_ledge_pays_nothing() -> None:
    env = make(level="1-3", weights=only(distance=1.0), frame_skip=1, autoreset="disabled")
    env.reset(seed=0)
    edge, airborne_pay, fell = 0, 0.0, 0
    for _ in range(400):
        _, reward, terminated, _, info = env.step([RIGHT_RUN])
        if info["on_ground"][0]:
            edge = int(info["x_pos"][0])
        else:
            airborne_pay += float(reward[0])
            fell += 1
        if terminated[0]:
            break
    assert info["death_cause"][0] == 2
    assert int(info["x_pos"][0]) > edge + 10, "Mario flew on"
    assert fell > 10
    assert airborne_pay == 0.0
    assert info["progress"][0] == edge - 40


def test_a_jump_is_paid_when_it_has_landed() -> None:
    env = make(weights=only(distance=1.0), frame_skip=1)
    env.reset(seed=0)
    for step in range(120):
        before = env.observe()[1]["progress"][0]
        _, reward, _, _, info = env.step([RIGHT_RUN if step < 40 else RIGHT_RUN_JUMP])
        if not info["on_ground"][0]:
            assert reward[0] == 0
        elif before < info["x_pos"][0] - 40:
            assert info["progress"][0] == info["x_pos"][0] - 40


def test_going_back_and_forth_pays_once() -> None:
    env = make(weights=only(distance=1.0))
    env.reset(seed=0)
    right = sum(float(env.step([RIGHT])[1][0]) for _ in range(20))
    for _ in range(15):  # Mario slides on a little before he turns.
        env.step([LEFT])
    furthest = int(env.observe()[1]["progress"][0])
    again = 0.0
    while env.observe()[1]["x_pos"][0] - 40 < furthest - 4:
        again += float(env.step([RIGHT])[1][0])
    assert right > 50
    assert again == 0
