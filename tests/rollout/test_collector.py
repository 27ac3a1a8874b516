"""Collecting: what an episode that was cut is worth, and the ground that steps cover."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor, nn

from warpzone.models.actor_critic import ActorCritic
from warpzone.models.memory import make_memory
from warpzone.rollout.collector import Collector
from warpzone.rollout.storage import RolloutStorage

LANES, CUT_AT = 3, 2
STUCK = 400  # frames


class Cutting:
    """Walks ten pixels a step; every episode is cut at its second step, the last lane's stuck."""

    def __init__(self) -> None:
        self.num_envs = LANES
        self.single_observation_space = spaces.Box(0, 255, (2,), np.uint8)
        self.steps = 0

    def reset(self, *, seed: int | None = None) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        return np.zeros((LANES, 2), np.uint8), {}

    def step_into(
        self, actions: NDArray[np.int64], obs: Any, reward: Any, terminated: Any, truncated: Any
    ) -> dict[str, Any]:
        self.steps += 1
        age = (self.steps - 1) % CUT_AT + 1
        obs[:] = 0
        reward[:] = 0.0
        terminated[:] = False
        truncated[:] = age == CUT_AT
        return {
            "progress": np.full(LANES, 10 * age, np.int32),
            "stagnation": np.array([0, STUCK - 1, STUCK], np.int32),
            "final_obs": np.full((LANES, 2), 200, np.uint8),
        }


class Sum(nn.Module):
    """Tells pictures apart by their brightness."""

    size = 1

    def forward(self, obs: Tensor) -> Tensor:
        return obs.float().sum(-1, keepdim=True)


def collected(patience: int) -> tuple[RolloutStorage, float]:
    """A rollout, and what the critic says of the picture at which episodes are cut."""
    torch.manual_seed(0)
    env = Cutting()
    model = ActorCritic(Sum(), make_memory("none", 1, 1, window=1), 2)
    storage = RolloutStorage(4, LANES, env.single_observation_space, 0)
    generator = torch.Generator().manual_seed(1)
    collector = Collector(env, model, storage, generator, model.step, patience=patience)
    collector.begin(seed=0)
    collector.collect()
    last = torch.full((1, 2), 200, dtype=torch.uint8)
    value = model.step(last, torch.zeros(1, 0), torch.zeros(1, dtype=torch.bool)).values.detach()
    return storage, float(value)


def test_a_cut_episode_is_worth_what_the_critic_says_of_its_end() -> None:
    storage, value = collected(patience=0)
    assert storage.next_values[CUT_AT - 1].tolist() == pytest.approx([value] * LANES)
    assert value != pytest.approx(float(storage.values[0, 0])), "the end looks different"


def test_an_episode_that_was_stuck_is_worth_nothing_more() -> None:
    storage, value = collected(patience=STUCK)
    assert storage.next_values[CUT_AT - 1].tolist() == pytest.approx([value, value, 0.0])
    assert not storage.terminated.any(), "it was cut all the same"


def test_ground_is_counted_within_an_episode_only() -> None:
    storage, _ = collected(patience=0)
    # A first step has nothing to be compared with, and a last one is not worth counting.
    assert storage.reached.tolist() == [[-1] * 3, [10] * 3, [-1] * 3, [10] * 3, [-1] * 3]
    assert not storage.progress().any()
