"""Training inside Gymnasium's vector wrappers."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import VectorWrapper
from gymnasium.wrappers.vector import TransformReward
from tiny import tiny

from warpzone.errors import ConfigError
from warpzone.telemetry.episodes import Episode
from warpzone.training.environments import Wrap
from warpzone.training.trainer import Trainer


def trained(wrap: Wrap | None, updates: int = 3) -> tuple[torch.Tensor, list[Episode], float]:
    """Returns weights, episodes and the sum of rewards after a few updates."""
    config = tiny(acting="torch")  # Inside wrappers, actions are never chosen by native code.
    config = replace(config, env=replace(config.env, max_steps=5))
    trainer = Trainer(config, wrap=wrap)
    trainer.begin()
    rewards = sum(float(trainer.update()["reward/sum"]) for _ in range(updates))
    weights = torch.cat([p.detach().flatten() for p in trainer.model.parameters()])
    trainer.close()
    return weights, trainer.take_episodes(), rewards


def test_a_wrapper_that_changes_nothing_trains_the_same_weights(rom_path: Path) -> None:
    plain, wrapped = trained(None), trained(VectorWrapper)
    assert torch.equal(plain[0], wrapped[0])
    assert [e.progress for e in plain[1]] == [e.progress for e in wrapped[1]]
    assert [e.reward for e in plain[1]] == [e.reward for e in wrapped[1]]
    assert len(plain[1]) > 0


def test_rewards_of_a_wrapper_are_what_is_learned_from_and_reported(rom_path: Path) -> None:
    plain = trained(None, updates=1)
    doubled = trained(lambda env: TransformReward(env, lambda reward: 2 * reward), updates=1)
    assert doubled[2] == pytest.approx(2 * plain[2], rel=1e-5)
    assert [e.reward for e in doubled[1]] == pytest.approx([2 * e.reward for e in plain[1]])
    assert not torch.equal(plain[0], doubled[0])


def test_a_run_in_a_wrapper_resumes_exactly(rom_path: Path) -> None:
    config = tiny()
    unbroken = Trainer(config, wrap=VectorWrapper)
    unbroken.begin()
    for _ in range(2):
        unbroken.update()
    state = copy.deepcopy(unbroken.state_dict())
    resumed = Trainer(config, wrap=VectorWrapper)
    resumed.load_state_dict(state)
    for trainer in (unbroken, resumed):
        trainer.update()
    pairs = zip(unbroken.model.parameters(), resumed.model.parameters(), strict=True)
    assert all(torch.equal(one, two) for one, two in pairs)
    unbroken.close()
    resumed.close()


class Continuous(VectorWrapper[Any, Any, Any, Any, Any]):
    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.single_action_space = gym.spaces.Box(0, 1, (1,), np.float32)


@pytest.mark.parametrize(
    ("wrap", "reason"),
    [
        (lambda env: None, "wrap must return a gymnasium.vector.VectorWrapper"),
        (Continuous, "must stay Discrete"),
    ],
)
def test_wrappers_that_cannot_be_trained_are_rejected(
    rom_path: Path, wrap: Wrap, reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        Trainer(tiny(), wrap=wrap)
