"""Rollouts played natively are what step-by-step play with the same choices gives."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from player_support import ACTIONS, Played, Rollout, make_env, make_model

from warpzone import _native
from warpzone.errors import ConfigError, EnvError
from warpzone.models.tree import to_tensors
from warpzone.step_info import step_info

NUMBERS, FLAGS = list(_native.INFO_NUMBERS), list(_native.INFO_FLAGS)
LEVELS = ["1-1", "2-2", "8-4", "1-4", "4-2"]
SHORT = {"stagnation_limit": 20, "max_steps": 60}


@pytest.fixture(autouse=True)
def _game(rom_path: object) -> None:
    """All of these play the real game."""


def play_once(threads: int, steps: int = 80) -> tuple[Rollout, Played]:
    env = make_env(LEVELS, 10, num_threads=threads, sticky_prob=0.2, noop_max=8, **SHORT)
    env.reset(seed=11)
    played = Played(env, steps)
    return played.play(), played


def assert_same_lists(first: NDArray[np.uint16], second: NDArray[np.uint16]) -> None:
    """Compares the part of each list that is in use."""
    for row, other in zip(*(a.reshape(-1, a.shape[-1]) for a in (first, second)), strict=True):
        used = 2 + int(row[0]) + 2 * int(row[1])
        np.testing.assert_array_equal(row[:used], other[:used])


def test_a_rollout_is_what_single_steps_with_the_same_actions_give() -> None:
    rollout, played = play_once(2)
    env = make_env(LEVELS, 10, sticky_prob=0.2, noop_max=8, **SHORT)
    obs, _ = env.reset(seed=11)
    ends = played.player.ends()
    seen = 0
    for step in range(len(rollout.actions)):
        np.testing.assert_array_equal(rollout.grids[step], obs["tiles"])
        np.testing.assert_array_equal(rollout.features[step], obs["features"])
        obs, rewards, terminated, truncated, info = env.step(rollout.actions[step])
        info = step_info(info)
        np.testing.assert_array_equal(rollout.rewards[step], rewards)
        np.testing.assert_array_equal(rollout.terminated[step], terminated)
        np.testing.assert_array_equal(rollout.truncated[step], truncated)
        np.testing.assert_array_equal(rollout.first[step + 1], terminated | truncated)
        np.testing.assert_array_equal(rollout.progress[step], info["progress"])
        np.testing.assert_array_equal(rollout.stagnation[step], info["stagnation"])
        for index in np.flatnonzero(terminated | truncated):
            assert (ends["step"][seen], ends["env"][seen]) == (step, index)
            assert ends["start"][seen] == -1
            assert ends["level"][seen] == LEVELS[index % len(LEVELS)]
            for column, name in enumerate(NUMBERS):
                assert ends["numbers"][seen, column] == info[name][index], name
            for column, name in enumerate(FLAGS):
                assert ends["flags"][seen, column] == info[name][index], name
            np.testing.assert_array_equal(ends["terms"][seen], info["reward_terms"][index])
            seen += 1
    np.testing.assert_array_equal(rollout.grids[-1], obs["tiles"])
    assert seen == len(ends["step"]) > 10
    assert rollout.first[0].all()


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    rollouts = [play_once(threads)[0] for threads in (1, 2, 5)]
    assert len(np.unique(rollouts[0].actions)) == ACTIONS
    for other in rollouts[1:]:
        for name, array in vars(rollouts[0]).items():
            np.testing.assert_array_equal(getattr(other, name), array, err_msg=name)


def test_values_and_log_probs_are_those_of_the_network() -> None:
    rollout, played = play_once(2)
    steps, envs = rollout.actions.shape
    tiles = torch.from_numpy(rollout.grids).flatten(0, 1)
    features = torch.from_numpy(rollout.features).flatten(0, 1)
    with torch.no_grad():
        said = played.model({"tiles": tiles, "features": features})
    np.testing.assert_allclose(rollout.values.ravel(), said.values, rtol=0, atol=1e-5)
    log_probs = torch.log_softmax(said.logits, -1).view(steps + 1, envs, -1)[:-1]
    chosen = log_probs.gather(-1, torch.from_numpy(rollout.actions).unsqueeze(-1)).squeeze(-1)
    np.testing.assert_allclose(rollout.log_probs, chosen, rtol=0, atol=1e-5)


def test_lists_describe_the_observations() -> None:
    rollout, played = play_once(1, 20)
    again = np.zeros_like(rollout.active)
    played.layout.write(rollout.grids, rollout.features, again)
    assert_same_lists(rollout.active, again)


def test_a_cut_episode_gets_the_value_of_the_state_in_which_it_was_cut() -> None:
    rollout, played = play_once(2)
    env = make_env(LEVELS, 10, sticky_prob=0.2, noop_max=8, **SHORT)
    env.reset(seed=11)
    cuts = 0
    for step in range(len(rollout.actions)):
        *_, truncated, info = env.step(rollout.actions[step])
        assert not rollout.final_values[step][~truncated].any()
        if truncated.any():
            final = info["final_obs"]
            with torch.no_grad():
                values = played.model(to_tensors(final)).values.numpy()
            np.testing.assert_allclose(
                rollout.final_values[step][truncated], values[truncated], rtol=0, atol=1e-5
            )
            cuts += int(truncated.sum())
    assert cuts >= 3


def test_actions_are_drawn_from_the_policy() -> None:
    # The same observation again and again: a machine that is put back after each step.
    env = make_env(num_envs=1, max_steps=1)
    env.reset(seed=0)
    played = Played(env, 4000)
    rollout = played.play()
    with torch.no_grad():
        said = played.model(
            to_tensors({"tiles": rollout.grids[0], "features": rollout.features[0]})
        )
    shares = torch.softmax(said.logits[0], -1).numpy()
    counts = np.bincount(rollout.actions[:, 0], minlength=ACTIONS)
    # Chi squared with 6 degrees of freedom: above 35 once in a quarter of a million.
    assert float(((counts - 4000 * shares) ** 2 / (4000 * shares)).sum()) < 35


def test_a_second_rollout_continues_the_first() -> None:
    _, whole = play_once(1, 60)
    env = make_env(LEVELS, 10, sticky_prob=0.2, noop_max=8, **SHORT)
    env.reset(seed=11)
    halves = Played(env, 30)
    first = {name: array.copy() for name, array in vars(halves.play()).items()}
    second = halves.play()
    for name in ("actions", "rewards", "terminated", "progress", "log_probs", "final_values"):
        joined = np.concatenate([first[name], getattr(second, name)])
        np.testing.assert_array_equal(joined, getattr(whole.rollout, name), err_msg=name)
    np.testing.assert_array_equal(second.first, whole.rollout.first[30:])
    np.testing.assert_array_equal(first["grids"][-1], second.grids[0])
    assert_same_lists(first["active"][-1], second.active[0])
    np.testing.assert_array_equal(second.random, whole.rollout.random)


def test_other_streams_give_other_actions() -> None:
    env = make_env(num_envs=2)
    env.reset(seed=[5, 5])
    played = Played(env, 40)
    played.rollout.random[:] = [1, 2]
    rollout = played.play()
    np.testing.assert_array_equal(rollout.grids[0, 0], rollout.grids[0, 1])
    assert (rollout.actions[:, 0] != rollout.actions[:, 1]).any()


def test_forced_actions_replace_the_choice_and_keep_the_policys_probabilities() -> None:
    _, free = play_once(1, 30)
    env = make_env(LEVELS, 10, sticky_prob=0.2, noop_max=8, **SHORT)
    env.reset(seed=11)
    played = Played(env, 30)
    forced = np.full((30, 10), -1, np.int16)
    forced[:10, 3] = ACTIONS - 1
    arrays = played.player.arrays(30, **vars(played.rollout), forced=forced)
    played.player.play(arrays)
    rollout = played.rollout
    assert (rollout.actions[:10, 3] == ACTIONS - 1).all()
    others = np.arange(10) != 3
    np.testing.assert_array_equal(rollout.actions[:, others], free.rollout.actions[:, others])
    tiles, features = (torch.from_numpy(part[:10, 3]) for part in (rollout.grids, rollout.features))
    with torch.no_grad():
        said = played.model({"tiles": tiles, "features": features})
    chosen = torch.log_softmax(said.logits, -1)[:, ACTIONS - 1]
    np.testing.assert_allclose(rollout.log_probs[:10, 3], chosen, rtol=0, atol=1e-5)


def test_a_forced_action_that_does_not_exist_is_named() -> None:
    env = make_env(num_envs=1)
    env.reset(seed=0)
    played = Played(env, 2)
    forced = np.full((2, 1), ACTIONS, np.int16)
    with pytest.raises(EnvError, match=r"action 7 does not exist; there are 7"):
        played.player.play(played.player.arrays(2, **vars(played.rollout), forced=forced))


def test_time_spent_acting_is_a_part_of_the_whole() -> None:
    _, played = play_once(2, 20)
    acting, total = played.player.seconds()
    assert 0 < acting < total


def test_an_environment_that_was_never_reset_is_named() -> None:
    played = Played(make_env(num_envs=2), 4)
    with pytest.raises(EnvError, match=r"0: its episode has ended.* 1: its episode"):
        played.play()


def test_weights_that_are_not_finite_are_named() -> None:
    model = make_model(64)
    env = make_env(num_envs=2)
    env.reset(seed=0)
    with torch.no_grad():
        model.policy.bias[0] = torch.nan
    with pytest.raises(EnvError, match="logits are NaN or infinite"):
        Played(env, 4, model).play()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"obs": "pixels"}, "obs must be 'tiles'"),
        ({"autoreset": "next-step"}, "autoreset must be 'same-step'"),
        ({"stack": 3}, "expects observations of 2080"),
        ({"actions": "complex"}, "the network has 7 actions"),
    ],
)
def test_environments_that_do_not_fit_are_refused(options: dict[str, object], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        Played(make_env(num_envs=1, **options), 4)


def test_arrays_of_the_wrong_size_are_refused() -> None:
    env = make_env(num_envs=2)
    env.reset(seed=0)
    played = Played(env, 4)
    arrays = vars(played.rollout) | {"values": np.zeros((4, 2), np.float32)}
    with pytest.raises(ConfigError, match="values has 8 elements; it needs 10"):
        played.player.arrays(4, **arrays)
