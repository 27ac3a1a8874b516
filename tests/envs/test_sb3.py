"""Stable-Baselines3 trains on the vector env through the adapter and on the single env as it is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from env_support import held_actions
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    VecEnvWrapper,
    VecFrameStack,
    VecNormalize,
)

import warpzone
from warpzone.envs.lazy_info import LazyInfo
from warpzone.envs.sb3 import SB3VecEnv, TilesExtractor
from warpzone.errors import ConfigError

torch.set_num_threads(1)  # Nets this small gain nothing by more, and lose much on a busy machine.

NAME = "warpzone/SuperMarioBros-1-1-v0"
POLICIES: dict[str, dict[str, Any]] = {
    "pixels": {"policy": "CnnPolicy"},
    "tiles": {
        "policy": "MultiInputPolicy",
        "policy_kwargs": {"features_extractor_class": TilesExtractor, "net_arch": [64]},
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


class Doubled(gym.vector.VectorWrapper):
    """A user's wrapper: changes rewards, adds a field for all and a field for some."""

    def step(self, actions: Any) -> Any:
        obs, reward, terminated, truncated, info = self.env.step(actions)
        info["speed"] = info["x_speed"] * 2
        info["seldom"] = np.array([7, 8])
        info["_seldom"] = np.array([False, True])
        info["nested"] = {"all": np.array([1, 2]), "one": np.array([3, 4]), "_one": info["_seldom"]}
        return obs, reward * 2, terminated, truncated, info


def test_gymnasiums_wrappers_pass_rewards_and_infos_through() -> None:
    options = {"num_envs": 2, "num_threads": 1, "obs": "tiles", "max_steps": 5}
    inner = warpzone.make_vec("1-1", autoreset="same-step", **options)
    wrapped = SB3VecEnv(gym.wrappers.vector.RecordEpisodeStatistics(Doubled(inner)))
    plain = SB3VecEnv(warpzone.make_vec("1-1", autoreset="same-step", **options))
    for env in (wrapped, plain):
        env.seed(0)
        env.reset()
    ends = 0
    for _ in range(12):
        actions = np.array([3, 1])
        _, rewards, dones, infos = wrapped.step(actions)
        _, expected, _, plain_infos = plain.step(actions)
        np.testing.assert_array_equal(rewards, expected * 2)
        for index, (info, other) in enumerate(zip(infos, plain_infos, strict=True)):
            assert info["x_pos"] == other["x_pos"]
            assert info["speed"] == wrapped.info["speed"][index]
            assert info.get("seldom") == (8 if index == 1 else None)
            assert info["nested"] == ({"all": 2, "one": 4} if index == 1 else {"all": 1})
            assert not any(name.startswith("_") for name in info)
            if dones[index]:
                ends += 1
                assert info["episode"]["r"] == pytest.approx(2 * other["episode"]["r"], abs=1e-5)
                assert info["episode"]["l"] == other["episode"]["l"] == 5
                assert info["steps"] == 5, "of the episode that ended"
                assert set(info["terminal_observation"]) == {"tiles", "features"}
    assert ends == 4
    wrapped.close()
    plain.close()


def test_a_reward_of_infos_reaches_sb3_over_resets() -> None:
    games = warpzone.make_vec(
        "1-1", num_envs=2, num_threads=1, autoreset="same-step", max_steps=3, obs="tiles"
    )
    env = SB3VecEnv(warpzone.InfoReward(games, lambda now, before: now["steps"] - before["steps"]))
    env.reset()
    for step in range(1, 10):
        _, reward, done, infos = env.step(np.ones(2, np.int64))
        assert reward.tolist() == [1.0, 1.0]
        assert done.tolist() == [step % 3 == 0] * 2
        if done.all():
            assert [info["episode"]["r"] for info in infos] == [3.0, 3.0]


class Watching(VecEnvWrapper):
    """A user's SB3 wrapper, which reads infos."""

    def reset(self) -> Any:
        self.seen: list[Any] = []
        return self.venv.reset()

    def step_wait(self) -> Any:
        obs, rewards, dones, infos = self.venv.step_wait()
        self.seen.append([(type(info), info["steps"], info["on_ground"]) for info in infos])
        return obs, rewards, dones, infos


def test_sb3s_wrappers_see_the_infos_of_every_step_which_are_built_lazily() -> None:
    env = make(2, obs="tiles", max_steps=50)
    env.reset()
    _, _, _, infos = env.step(np.array([3, 0]))
    assert [type(info) for info in infos] == [LazyInfo] * 2
    assert all(info.get("episode") is None for info in infos), "what SB3 asks at every step"
    assert [type(info) for info in infos] == [LazyInfo] * 2
    assert type(env.info) is LazyInfo
    assert infos[0]["x_pos"] == env.info["x_pos"][0]
    assert isinstance(infos[0]["x_pos"], int)
    assert dict(infos[1])["enemies"].shape == (6, 4)
    assert [info["steps"] for info in env.reset_infos] == [0, 0]
    watching = Watching(VecNormalize(env, norm_obs=False))
    watching.reset()
    for _ in range(3):
        watching.step(np.array([3, 0]))
    assert [[steps for _, steps, _ in row] for row in watching.seen] == [[1, 1], [2, 2], [3, 3]]
    env.close()


def test_wrappers_are_found_by_class_and_their_attributes_by_name() -> None:
    inner = warpzone.make_vec("1-1", num_envs=2, num_threads=1, autoreset="same-step")
    env = SB3VecEnv(Doubled(inner))
    assert env.env_is_wrapped(Doubled) == [True, True]
    assert env.env_is_wrapped(Monitor, indices=[1]) == [True]
    assert env.env_is_wrapped(gym.wrappers.vector.NormalizeReward) == [False, False]
    assert env.env_is_wrapped(gym.vector.VectorWrapper) == [True, True]
    assert SB3VecEnv(inner).env_is_wrapped(gym.vector.VectorWrapper) == [False, False]
    assert env.env_method("levels", indices=[0]) == [["1-1", "1-1"]]
    env.set_attr("render_mode", "rgb_array")
    assert inner.render_mode == "rgb_array"
    assert env.get_attr("saves_states") == [True, True]
    assert not env.has_attr("nonsense")
    env.close()


def test_reset_options_reach_the_environment() -> None:
    env = make(2, obs="tiles")
    env.reset()
    for _ in range(10):
        env.step(np.array([3, 3]))
    env.set_options({"reset_mask": np.array([True, False])})
    env.reset()
    assert [info["steps"] for info in env.reset_infos] == [0, 10]
    env.reset()
    assert [info["steps"] for info in env.reset_infos] == [0, 0], "options hold for one reset"
    env.set_options({"level": "1-2"})
    with pytest.raises(ConfigError, match="'level' is not a reset option"):
        env.reset()
    env.set_options([{}, {"reset_mask": np.array([True, True])}])
    with pytest.raises(ConfigError, match="differ between environments"):
        env.reset()
    env.close()


@pytest.mark.parametrize("stack", [1, 2, 3])
@pytest.mark.parametrize("normalize", [True, False])
def test_the_tiles_extractor_gives_every_value_between_0_and_1(stack: int, normalize: bool) -> None:
    env = make(2, obs="tiles", stack=stack)
    model = PPO(
        "MultiInputPolicy",
        env,
        policy_kwargs={"features_extractor_class": TilesExtractor, "normalize_images": normalize},
        device="cpu",
    )
    obs, _ = model.policy.obs_to_tensor(model.env.reset())  # type: ignore[union-attr]
    features = model.policy.extract_features(obs)
    assert features.shape == (2, 5 * stack * 13 * 16 + 113)
    assert features.min() == 0.0
    assert features.max() == 1.0
    values = np.concatenate([array.reshape(2, -1) for array in model.env.reset().values()], 1)  # type: ignore[union-attr]
    assert sorted(features[0].tolist()) == pytest.approx(sorted(values[0] / 255), abs=1e-6)
    env.close()


def test_a_model_with_the_tiles_extractor_can_be_saved_and_loaded(tmp_path: Path) -> None:
    env = make(2, obs="tiles")
    model = PPO(
        "MultiInputPolicy",
        env,
        device="cpu",
        **{"policy_kwargs": POLICIES["tiles"]["policy_kwargs"]},
    )
    model.save(tmp_path / "model")
    obs = env.reset()
    loaded = PPO.load(tmp_path / "model", device="cpu")
    actions, _ = model.predict(obs, deterministic=True)
    np.testing.assert_array_equal(loaded.predict(obs, deterministic=True)[0], actions)
    env.close()


def documented_examples() -> list[str]:
    page = (Path(__file__).parents[2] / "docs" / "environment.md").read_text(encoding="utf-8")
    section = page.split("## Stable-Baselines3")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)


@pytest.mark.parametrize("example", documented_examples())
def test_the_documented_examples_run_as_pasted(
    example: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only `learn` is cut short, to one rollout."""
    learn = PPO.learn
    monkeypatch.setattr(PPO, "learn", lambda self, steps, **options: learn(self, 1, **options))
    exec(example, {})


def test_color_images_are_taken_in_either_channel_order() -> None:
    """SB3 transposes channels-last images itself, so both orders give the same policy."""
    trained = []
    for channels in ("last", "first"):
        env = make(2, obs="rgb", size=60, channels=channels)
        env.seed(0)
        model = PPO("CnnPolicy", env, n_steps=8, batch_size=16, n_epochs=1, seed=0, device="cpu")
        model.learn(16)
        trained.append([parameter.detach().numpy() for parameter in model.policy.parameters()])
        env.close()
    for last, first in zip(*trained, strict=True):
        np.testing.assert_allclose(last, first, atol=1e-4)


def test_another_autoreset_is_refused() -> None:
    with pytest.raises(ConfigError, match="create it with autoreset='same-step'"):
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
    assert 'pip install "warpzone[sb3]"' in done.stdout


def test_importing_warpzone_loads_neither_sb3_nor_torch() -> None:
    script = "import sys, warpzone; print({'torch', 'stable_baselines3'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "set()"
