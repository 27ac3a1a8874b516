"""Stable-Baselines3 trains on the vector env through the adapter and on the single env as it is."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from env_support import held_actions
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack, VecNormalize
from tile_extractor import TileExtractor

import warpzone
from warpzone.envs.sb3 import SB3VecEnv
from warpzone.errors import ConfigError

torch.set_num_threads(1)  # Nets this small gain nothing by more, and lose much on a busy machine.

NAME = "warpzone/SuperMarioBros-1-1-v0"
POLICIES: dict[str, dict[str, Any]] = {
    "pixels": {"policy": "CnnPolicy"},
    "tiles": {
        "policy": "MultiInputPolicy",
        "policy_kwargs": {"features_extractor_class": TileExtractor},
    },
}
kinds = pytest.mark.parametrize("obs", POLICIES)


def make(lanes: int = 4, **options: Any) -> SB3VecEnv:
    options = {"autoreset": "same-step"} | options
    return SB3VecEnv(warpzone.make_vec("1-1", num_envs=lanes, num_threads=1, **options))


def train(env: Any, obs: str, steps: int, rollout: int) -> PPO:
    model = PPO(
        env=env, n_steps=rollout, batch_size=128, n_epochs=1, seed=0, device="cpu", **POLICIES[obs]
    )
    model.learn(steps)
    assert model.num_timesteps >= steps
    for parameter in model.policy.parameters():
        assert parameter.isfinite().all()
    return model


@kinds
def test_ppo_trains_on_the_vector_environment(obs: str) -> None:
    env = make(8, obs=obs, max_steps=15)
    model = train(env, obs, 512 if obs == "pixels" else 2048, rollout=32)
    assert model.ep_info_buffer is not None
    assert len(model.ep_info_buffer) > 8
    mean, _ = evaluate_policy(model, env, n_eval_episodes=4, warn=True)
    assert np.isfinite(mean)
    env.close()


@kinds
def test_ppo_trains_on_the_single_environment_as_it_is(obs: str) -> None:
    train(gym.make(NAME, obs=obs, max_steps=40), obs, 256 if obs == "pixels" else 1024, rollout=128)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@kinds
@pytest.mark.parametrize("kind", ["vector", "single"])
def test_ppo_trains_for_twenty_thousand_steps(obs: str, kind: str) -> None:
    if kind == "vector":
        train(make(16, obs=obs), obs, 20_000, rollout=128)
    else:
        train(gym.make(NAME, obs=obs), obs, 20_000, rollout=2048)


@kinds
def test_the_adapter_steps_as_dummy_vec_env_does(obs: str) -> None:
    options = {"obs": obs, "max_steps": 7, "sticky_prob": 0.25}
    env = make(2, **options)
    dummy = DummyVecEnv([lambda: Monitor(warpzone.MarioEnv("1-1", **options))] * 2)
    for one in (env, dummy):
        one.seed(5)
    got, expected = env.reset(), dummy.reset()
    ends = 0
    for actions in held_actions(0, 2, 30):
        for name in ("tiles", "features") if obs == "tiles" else (slice(None),):
            np.testing.assert_array_equal(got[name], expected[name])
        got, rewards, dones, infos = env.step(actions)
        expected, dummy_rewards, dummy_dones, dummy_infos = dummy.step(actions)
        np.testing.assert_array_equal(rewards, dummy_rewards)
        np.testing.assert_array_equal(dones, dummy_dones)
        for lane in np.flatnonzero(dones):
            ends += 1
            info, other = infos[lane], dummy_infos[lane]
            assert info["TimeLimit.truncated"] == other["TimeLimit.truncated"]
            assert info["episode"]["l"] == other["episode"]["l"]
            assert info["episode"]["r"] == pytest.approx(other["episode"]["r"], abs=1e-5)
            assert info["x_pos"] == other["x_pos"]
            for name in ("tiles", "features") if obs == "tiles" else (slice(None),):
                np.testing.assert_array_equal(
                    info["terminal_observation"][name], other["terminal_observation"][name]
                )
        for lane in np.flatnonzero(~dones):
            assert "terminal_observation" not in infos[lane]
            assert not infos[lane].get("TimeLimit.truncated", False)
    assert ends == 8
    assert env.info["x_pos"].shape == (2,)


def test_sb3s_own_wrappers_work_around_the_adapter() -> None:
    env = VecNormalize(VecFrameStack(make(2, stack=1, max_steps=5), 4), norm_obs=False)
    obs = env.reset()
    assert obs.shape == (2, 4, 84, 84)
    for _ in range(12):
        obs, rewards, _, _ = env.step(np.array([1, 3]))
    assert rewards.dtype == np.float32
    env.close()


def test_attributes_methods_and_pictures_are_reached() -> None:
    env = make(3, render_mode="rgb_array")
    env.reset()
    assert env.get_attr("render_mode") == ["rgb_array"] * 3
    assert env.get_attr("num_envs", indices=[0, 2]) == [3, 3]
    assert not env.has_attr("nonsense")
    assert env.env_method("levels", indices=0) == [["1-1"] * 3]
    assert env.env_is_wrapped(Monitor) == [True] * 3
    assert env.env_is_wrapped(gym.Wrapper) == [False] * 3
    picture = env.render()
    assert picture is not None
    assert picture.shape == (480, 512, 3)
    env.close()


def test_another_autoreset_is_refused() -> None:
    with pytest.raises(ConfigError, match="made with autoreset='same-step'"):
        make(autoreset="next-step")


def test_without_sb3_the_error_says_what_to_install() -> None:
    script = (
        "import sys\n"
        "sys.modules['stable_baselines3'] = None\n"
        "import warpzone\n"
        "try:\n"
        "    import warpzone.envs.sb3\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert "pip install 'warpzone[sb3]'" in done.stdout


def test_importing_warpzone_loads_neither_sb3_nor_torch() -> None:
    script = "import sys, warpzone; print({'torch', 'stable_baselines3'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "set()"
