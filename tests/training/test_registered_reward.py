"""Training on a reward that a user registered."""

from __future__ import annotations

import copy
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from gymnasium.wrappers.vector import TransformReward
from tiny import UPDATE, tiny

import warpzone
from warpzone import _native
from warpzone.config import RewardOptions, TrainConfig
from warpzone.errors import PluginError
from warpzone.registry import register_reward, register_wrapper
from warpzone.training.trainer import Trainer


@register_reward("one per step")
def one_per_step(info: Any, previous: Any) -> Any:
    return info["steps"] - previous["steps"]


@register_reward("pixels")
def pixels(info: Any, previous: Any) -> Any:
    return (info["x_pos"] - previous["x_pos"]) * (1 + info["steps"] / 100)


@register_reward("broken")
def broken(info: Any, previous: Any) -> Any:
    return info["no_such_field"]


@register_wrapper("doubled")
def doubled(env: Any) -> Any:
    return TransformReward(env, lambda reward: 2 * reward)


def config(reward: str, *, wrap: str = "none", **env: Any) -> TrainConfig:
    small = tiny()
    return replace(
        small,
        env=replace(small.env, max_steps=5, wrap=wrap, **env),
        reward=RewardOptions(kind=reward),
    )


def reward_of_an_update(config: TrainConfig) -> float:
    trainer = Trainer(config)
    trainer.begin()
    row = trainer.update()
    trainer.close()
    return float(row["reward/sum"])


@pytest.mark.parametrize("vector", ["native", "sync"])
def test_a_registered_reward_is_what_is_learned_from_over_resets(
    rom_path: Path, vector: str
) -> None:
    assert reward_of_an_update(config("one per step", vector=vector)) == UPDATE


def test_wrappers_see_the_registered_reward(rom_path: Path) -> None:
    assert reward_of_an_update(config("one per step", wrap="doubled")) == 2 * UPDATE


def test_a_run_with_a_registered_reward_resumes_exactly(rom_path: Path) -> None:
    unbroken = Trainer(config("pixels"))
    unbroken.begin()
    for _ in range(2):
        unbroken.update()
    resumed = Trainer(config("pixels"))
    resumed.load_state_dict(copy.deepcopy(unbroken.state_dict()))
    sums = [trainer.update()["reward/sum"] for trainer in (unbroken, resumed)]
    assert sums[0] == sums[1]
    pairs = zip(unbroken.model.parameters(), resumed.model.parameters(), strict=True)
    assert all(torch.equal(one, two) for one, two in pairs)
    unbroken.close()
    resumed.close()


def test_a_registered_reward_leaves_replay_as_it_is(rom_path: Path) -> None:
    trainer = Trainer(config("one per step"))
    assert trainer.envs.is_wrapped
    assert trainer.envs.stacks(trainer.config) == {"tiles": 2}
    trainer.close()


def test_a_reward_that_fails_ends_the_run_with_one_sentence(rom_path: Path) -> None:
    trainer = Trainer(config("broken"))
    trainer.begin()
    with pytest.raises(PluginError, match="the reward 'broken' failed: KeyError"):
        trainer.update()
    trainer.close()


def test_every_reward_weight_of_the_environment_is_an_option_of_training() -> None:
    weights = _native.RewardWeights().as_dict()
    assert len(weights) == 12
    assert set(asdict(RewardOptions())) - {"kind"} == set(weights)
    flags = {o.flag for o in warpzone.config.train_options() if o.table == "reward"}
    assert flags == {"reward", *(f"reward-{name.replace('_', '-')}" for name in weights)}


@pytest.mark.parametrize("name", sorted(_native.RewardWeights().as_dict()))
def test_every_reward_weight_reaches_the_environments(rom_path: Path, name: str) -> None:
    value = 7.0 if name not in ("milestone_pixels", "early_steps") else 7
    small = replace(tiny(), reward=RewardOptions(**{name: value}))
    trainer = Trainer(small)
    assert trainer.env.reward_weights()[name] == value
    trainer.close()
