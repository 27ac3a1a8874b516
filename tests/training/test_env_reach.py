"""Training options reach the environments: starts, actions, sizes, ROM, reward."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warpzone.config import TrainConfig, make_config
from warpzone.envs.console import Console
from warpzone.errors import ConfigError
from warpzone.rom.locate import load_game
from warpzone.training.environments import make_env
from warpzone.training.trainer import Trainer


def small(**options: Any) -> TrainConfig:
    fixed: dict[str, Any] = {
        "num_envs": 2,
        "num_threads": 1,
        "rollout_steps": 8,
        "minibatch_size": 16,
        "hidden": 16,
        "torch_threads": 1,
        "device": "cpu",
        "obs": "tiles",
        "noop_max": 0,
    }
    return make_config(environment={}, **(fixed | options))


def first_info(config: TrainConfig) -> dict[str, Any]:
    env = make_env(config)
    try:
        return env.reset(seed=0)[1]
    finally:
        env.close()


def test_custom_actions_are_trained_with(rom_path: Path) -> None:
    env = make_env(small(actions="NOOP,RIGHT+B,RIGHT+A+B"))
    assert list(env.config.actions) == [0x00, 0x82, 0x83]
    env.close()


def test_power_and_halfway_change_where_and_how_episodes_start(rom_path: Path) -> None:
    plain, powered = first_info(small()), first_info(small(power=2))
    assert (plain["status"] == 0).all()
    assert (powered["status"] == 2).all()
    assert (first_info(small(halfway=True))["x_pos"] > plain["x_pos"]).all()


def test_a_save_state_starts_episodes(rom_path: Path, tmp_path: Path) -> None:
    env = make_env(small())
    env.reset(seed=0)
    for _ in range(20):
        info = env.step(np.ones(2, np.int64))[4]
    file = tmp_path / "here.state"
    file.write_bytes(env.save_console(0))
    env.close()
    assert (first_info(small(start_state=str(file)))["x_pos"] == info["x_pos"][0]).all()
    with pytest.raises(ConfigError, match=r"env\.start_state .*nowhere cannot be read"):
        make_env(small(start_state=str(tmp_path / "nowhere")))
    with pytest.raises(ConfigError, match="too large for a save state"):
        make_env(small(start_state="/dev/zero"))


def test_size_and_max_pool_reach_the_environment(rom_path: Path) -> None:
    env = make_env(small(obs="pixels", size=(64, 96), max_pool=True, stack=3))
    assert env.single_observation_space.shape == (3, 64, 96)
    assert env.config.max_pool
    env.close()


@pytest.mark.parametrize("obs", ["pixels", "rgb"])
def test_a_size_that_the_encoder_cannot_take_is_refused(obs: str) -> None:
    with pytest.raises(ConfigError, match=r"env\.size is 84x97; .* needs multiples of 4"):
        small(obs=obs, size=(84, 97))
    with pytest.raises(ConfigError, match="each side must be at least 36 for"):
        small(obs=obs, size=(32, 64), encoder="nature")
    with pytest.raises(ConfigError, match="each side must be at least 8 for"):
        small(obs=obs, size=(4, 64))
    small(obs=obs, size=(97, 61), encoder="nature")
    small(obs="tiles", size=(97, 61))


def test_rgb_is_trained_with_channels_first_and_may_be_larger_than_the_screen(
    rom_path: Path,
) -> None:
    env = make_env(small(obs="rgb", max_pool=True))
    assert env.single_observation_space.shape == (6, 84, 84)
    env.close()
    options: dict[str, Any] = {"num_envs": 1, "rollout_steps": 4, "minibatch_size": 4}
    trainer = Trainer(small(obs="rgb", size=(260, 272), replay_capacity=8, **options))
    assert trainer.env.single_observation_space.shape == (6, 260, 272)
    trainer.begin()
    trainer.update()
    trainer.close()


def test_sticky_steps_reach_the_environment(rom_path: Path) -> None:
    for vector in ("native", "sync"):
        env = make_env(small(sticky="step", vector=vector))
        assert env.config.sticky == "step"
        env.close()


def test_the_given_rom_is_played(rom_path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.nes"
    copy.write_bytes(rom_path.read_bytes())
    assert first_info(small(rom=str(copy)))["x_pos"].shape == (2,)
    with pytest.raises(Exception, match=r"nowhere\.nes"):
        make_env(small(rom=str(tmp_path / "nowhere.nes")))


def test_every_native_reward_weight_can_be_set(rom_path: Path) -> None:
    from warpzone import _native

    names = set(_native.RewardWeights().as_dict())
    assert set(small().reward.weights(2)) == names


def test_an_annealed_weight_counts_steps_of_the_run_over_all_environments(rom_path: Path) -> None:
    config = small(reward_time=0.0, reward_distance=(1.0, 0.0, 80), actions="RIGHT+B")
    env = make_env(config)
    assert config.reward.weights(2)["distance"] == (1.0, 0.0, 40)
    env.reset(seed=0)
    rewards = [env.step(np.zeros(2, np.int64))[1] for _ in range(45)]
    assert np.max(rewards[:20]) > 0
    np.testing.assert_array_equal(np.array(rewards[41:]), 0.0)
    env.close()


def test_the_classic_reward_can_be_trained_with(rom_path: Path) -> None:
    trainer = Trainer(small(reward="classic"))
    assert trainer.env.config.reward == "classic"
    trainer.begin()
    trainer.update()
    trainer.close()


def test_a_rescue_works_with_any_action_set(rom_path: Path) -> None:
    for actions in ("NOOP,RIGHT+B", "NOOP,LEFT"):
        Trainer(small(actions=actions)).close()


def test_probing_is_logged_and_says_that_it_overrides_the_script(
    rom_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    trainer = Trainer(small(probe_frames=40, script="RIGHT:8", script_forward_frames=8))
    with caplog.at_level(logging.INFO):
        trainer.begin()
    trainer.close()
    assert "probing for 40 frames: the forward action is" in caplog.text
    assert "--script RIGHT:8 is not used: a forward action takes precedence" in caplog.text


def test_a_console_state_of_this_game_is_what_is_saved(rom_path: Path) -> None:
    assert len(Console(load_game("smb", rom_path)).save()) < 1 << 20
