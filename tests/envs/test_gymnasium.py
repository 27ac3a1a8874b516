"""Gymnasium's own checks and wrappers work on the environments, unmodified."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_support import GYMNASIUM_VERSION
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import RecordEpisodeStatistics, RecordVideo
from gymnasium.wrappers.vector import DictInfoToList
from gymnasium.wrappers.vector import RecordEpisodeStatistics as RecordVectorStatistics

import warpzone
from warpzone import _native
from warpzone.step_info import step_info

IDS = sorted(name for name in gym.registry if name.startswith("warpzone/"))


def test_every_level_both_games_and_random_levels_have_ids() -> None:
    expected = {
        f"warpzone/{game}{part}-v0"
        for game, key in (("SuperMarioBros", "smb"), ("LostLevels", "lost-levels"))
        for part in (*(f"-{level}" for level in _native.level_names(key)), "", "RandomLevels")
    }
    assert set(IDS) == expected
    assert len(_native.level_names("smb")) == 32


@pytest.mark.parametrize("name", IDS)
def test_every_id_makes_an_environment_that_resets(name: str) -> None:
    env = gym.make(name, obs="tiles")
    obs, info = env.reset(seed=0)
    assert env.observation_space.contains(obs)
    assert isinstance(env.unwrapped, warpzone.MarioEnv)
    part = name.removeprefix("warpzone/").removesuffix("-v0").split("-", 1)
    if len(part) == 2:
        assert part[1] == f"{info['world']}-{info['stage']}"
    env.close()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("warpzone/SuperMarioBros-1-1-v0", {}),
        ("warpzone/SuperMarioBros-8-4-v0", {"obs": "rgb"}),
        ("warpzone/SuperMarioBros-2-2-v0", {"obs": "tiles"}),
        ("warpzone/SuperMarioBros-v0", {"sticky_prob": 0.25, "noop_max": 30}),
        ("warpzone/SuperMarioBrosRandomLevels-v0", {"reward": "classic"}),
        ("warpzone/LostLevels-1-1-v0", {"obs": "rgb", "size": 84, "stack": 4}),
    ],
)
def test_gymnasiums_checker_passes(name: str, options: dict[str, Any]) -> None:
    env = gym.make(name, render_mode="rgb_array", disable_env_checker=True, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
    env.close()


@pytest.mark.parametrize("name", ["SuperMarioBros-1-1", "SuperMarioBrosRandomLevels", "LostLevels"])
def test_make_vec_takes_the_native_vector_environment(name: str) -> None:
    env = gym.make_vec(f"warpzone/{name}-v0", num_envs=3, num_threads=1, max_steps=5)
    assert isinstance(env.unwrapped, warpzone.MarioVectorEnv)
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    obs, _ = env.reset(seed=0)
    assert env.observation_space.contains(obs)
    obs, reward, terminated, truncated, info = env.step(env.action_space.sample())
    assert env.observation_space.contains(obs)
    assert reward.shape == terminated.shape == truncated.shape == info["x_pos"].shape == (3,)
    assert reward.dtype == np.float32
    assert terminated.dtype == truncated.dtype == np.bool_
    env.close()


def test_sync_and_native_vector_environments_play_alike() -> None:
    options: dict[str, Any] = {"obs": "tiles", "sticky_prob": 0.25, "max_steps": 6}
    name = "warpzone/SuperMarioBros-1-1-v0"
    native = gym.make_vec(name, num_envs=2, **options)
    sync = gym.make_vec(name, num_envs=2, vectorization_mode="sync", **options)
    native.reset(seed=5)
    sync.reset(seed=5)
    sync.action_space.seed(0)
    for _ in range(20):
        actions = sync.action_space.sample()
        got, expected = native.step(actions), sync.step(actions)
        np.testing.assert_array_equal(got[0]["tiles"], expected[0]["tiles"])
        for one, other in zip(got[1:4], expected[1:4], strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(got[4]["x_pos"], expected[4]["x_pos"])


def test_specs_are_pickled_and_make_the_same_environment() -> None:
    env = gym.make("warpzone/SuperMarioBros-4-1-v0", stack=2, weights={"time": 0.5})
    assert env.spec is not None
    spec = pickle.loads(pickle.dumps(env.spec))
    twin = gym.make(spec)
    assert twin.observation_space == env.observation_space
    assert twin.reset(seed=1)[1]["world"] == 4
    assert gym.make(EnvSpec.from_json(env.spec.to_json())).observation_space.shape == (2, 84, 84)
    vector = gym.make_vec("warpzone/SuperMarioBros-4-1-v0", num_envs=2)
    again = gym.make_vec(pickle.loads(pickle.dumps(vector.spec)))
    assert again.num_envs == 2


def test_record_video_works_headless(tmp_path: Path) -> None:
    folder = tmp_path / "video"
    env = gym.make("warpzone/SuperMarioBros-1-1-v0", render_mode="rgb_array", max_steps=12)
    recorder = RecordVideo(env, str(folder), episode_trigger=lambda _: True)
    for seed in range(2):
        recorder.reset(seed=seed)
        while not any(recorder.step(1)[2:4]):
            pass
    recorder.close()
    assert [video.stat().st_size > 1000 for video in sorted(folder.iterdir())] == [True, True]


def test_episode_statistics_add_up_for_the_single_environment() -> None:
    env = RecordEpisodeStatistics(gym.make("warpzone/SuperMarioBros-1-1-v0", max_steps=9))
    env.reset(seed=0)
    rewards: list[float] = []
    while True:
        _, reward, terminated, truncated, info = env.step(3)
        rewards.append(float(reward))
        if terminated or truncated:
            break
    assert info["episode"]["l"] == 9
    assert info["episode"]["r"] == pytest.approx(sum(rewards))
    assert info["reward_terms"].sum() == pytest.approx(sum(rewards), abs=1e-5)


@pytest.mark.parametrize(
    "autoreset",
    [
        "next-step",
        pytest.param(
            "same-step",
            marks=pytest.mark.skipif(
                GYMNASIUM_VERSION < (1, 4), reason="Gymnasium before 1.4 counts a step too few"
            ),
        ),
    ],
)
def test_episode_statistics_add_up_for_the_vector_environment(autoreset: str) -> None:
    env = RecordVectorStatistics(
        warpzone.make_vec("1-1", num_envs=2, num_threads=1, max_steps=9, autoreset=autoreset)
    )
    env.reset(seed=0)
    sums, seen = np.zeros(2), 0
    for _ in range(40):
        _, reward, _, truncated, info = env.step(np.array([3, 1]))
        sums += reward
        if truncated.any():
            seen += 1
            assert info["episode"]["l"].tolist() == [9, 9]
            np.testing.assert_allclose(info["episode"]["r"], sums, rtol=1e-6)
            terms = step_info(info)["reward_terms"]
            np.testing.assert_allclose(terms.sum(axis=1), sums, atol=1e-5)
            sums[:] = 0
    assert seen == 4


@pytest.mark.skipif(
    GYMNASIUM_VERSION < (1, 3), reason="Gymnasium before 1.2.3 wants a mask for every field"
)
def test_info_can_be_turned_into_a_list_per_environment() -> None:
    env = DictInfoToList(
        warpzone.make_vec("1-1,1-2", num_envs=2, num_threads=1, max_steps=2, autoreset="same-step")
    )
    env.reset(seed=0)
    env.step(np.array([0, 0]))
    infos = env.step(np.array([0, 0]))[4]
    assert [info["stage"] for info in infos] == [1, 2]
    assert infos[1]["final_info"]["stage"] == 2
    assert infos[0]["final_obs"].shape == (4, 84, 84)


@pytest.mark.parametrize("obs", ["pixels", "rgb", "tiles"])
def test_render_shows_the_present_moment(obs: str) -> None:
    single = warpzone.MarioEnv("1-1", obs=obs, render_mode="rgb_array")
    env = warpzone.make_vec("1-1", num_envs=2, obs=obs, render_mode="rgb_array")
    single.reset(seed=0)
    env.reset(seed=0)
    first = env.render()
    assert first is not None
    np.testing.assert_array_equal(first[0], single.render())
    for _ in range(25):
        single.step(3)
        env.step([3, 0])
    pictures = env.render()
    assert pictures is not None
    assert [picture.shape for picture in pictures] == [(240, 256, 3)] * 2
    assert (pictures[0] != pictures[1]).any()
    assert (pictures[0] != first[0]).any()
    if obs == "tiles":  # Drawn only when asked for: a frame later than the last one played.
        single.console.run_frame(0, render=True)
    np.testing.assert_array_equal(pictures[0], single.render())


def test_render_does_not_move_the_game() -> None:
    env = warpzone.make_vec("1-1", num_envs=1, obs="tiles", render_mode="rgb_array")
    twin = warpzone.make_vec("1-1", num_envs=1, obs="tiles")
    env.reset(seed=0)
    twin.reset(seed=0)
    for _ in range(30):
        env.render()
        got, expected = env.step([4]), twin.step([4])
        np.testing.assert_array_equal(got[0]["tiles"], expected[0]["tiles"])
    np.testing.assert_array_equal(env.ram(), twin.ram())


def test_render_shows_a_loaded_state() -> None:
    env = warpzone.make_vec("1-1,1-2", num_envs=2, render_mode="rgb_array")
    env.reset(seed=0)
    env.step([3, 3])
    env.load_state(env.save_state(1), env_ids=[0])
    pictures = env.render()
    assert pictures is not None
    assert (pictures[0] != pictures[1]).mean() < 0.02


def test_without_a_render_mode_nothing_is_rendered() -> None:
    assert warpzone.make_vec("1-1").render() is None
    assert warpzone.MarioEnv("1-1").render() is None
