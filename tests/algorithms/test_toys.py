"""Toy problems that each algorithm and each recurrent core must solve."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import nn

from warpzone.algorithms.build import make_algorithm
from warpzone.algorithms.gradient_step import GradientStep
from warpzone.algorithms.learner import Learner
from warpzone.config import LearnOptions
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.memory import make_memory
from warpzone.models.tree import IMAGE
from warpzone.rollout.collector import Collector
from warpzone.rollout.rollout_env import DirectEnv
from warpzone.rollout.storage import RolloutStorage

SYMBOLS = 4


class Recall:
    """A symbol is shown, then `delay` blank steps; the last action must name it.

    With `delay` 0 it is the plain problem of naming what is seen.
    """

    def __init__(self, num_envs: int, delay: int):
        self.num_envs, self.delay = num_envs, delay
        self.single_observation_space = spaces.Box(0, 255, (SYMBOLS + 1,), np.uint8)
        self.random = np.random.default_rng(0)
        self.symbol = np.zeros(num_envs, np.int64)
        self.age = np.zeros(num_envs, np.int64)
        self.rewards: list[float] = []

    def reset(self, *, seed: int | None = None) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        self.random = np.random.default_rng(seed)
        self.symbol = self.random.integers(0, SYMBOLS, self.num_envs)
        return self._obs(), {}

    def _obs(self) -> NDArray[np.uint8]:
        obs = np.zeros((self.num_envs, SYMBOLS + 1), np.uint8)
        obs[np.arange(self.num_envs), np.where(self.age == 0, self.symbol, SYMBOLS)] = 255
        return obs

    def step_into(
        self, actions: NDArray[np.int64], obs: Any, reward: Any, terminated: Any, truncated: Any
    ) -> dict[str, Any]:
        ended = self.age == self.delay
        right = actions == self.symbol
        reward[:] = np.where(ended, right.astype(np.float32), 0.0)
        terminated[:] = ended
        truncated[:] = False
        self.rewards.extend(reward[ended])
        self.age = np.where(ended, 0, self.age + 1)
        fresh = self.random.integers(0, SYMBOLS, self.num_envs)
        self.symbol = np.where(ended, fresh, self.symbol)
        obs[:] = self._obs()
        return {}


class Bytes(nn.Module):
    """One linear layer over the observations."""

    size = 32

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(SYMBOLS + 1, self.size)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.layer(obs.float() / 255.0))


def success_after(algorithm: str, memory: str, delay: int, updates: int) -> float:
    """Returns the fraction of right answers at the end of training."""
    torch.manual_seed(0)
    env = Recall(num_envs=32, delay=delay)
    core = make_memory(memory, 32, 32, window=4)
    model = ActorCritic(Bytes(), core, SYMBOLS, obs_name=IMAGE)
    stepper = DirectEnv(env)
    storage = RolloutStorage(16, 32, stepper.obs_spaces, core.state_size)
    generator = torch.Generator().manual_seed(0)
    collector = Collector(stepper, model, storage, generator, model.step)
    epochs = 1 if algorithm == "vtrace" else 4
    options = LearnOptions(algo=algorithm, gamma=0.9, epochs=epochs, minibatch_size=256)
    rate = 5e-3 if algorithm == "vtrace" else 2e-3
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    learner = Learner(
        model,
        make_algorithm(options),
        GradientStep(model, optimizer, options),
        options,
        generator=generator,
        autocast=nullcontext,
    )
    collector.begin(seed=0)
    for _ in range(updates):
        collector.collect()
        learner.learn(storage, ent_coef=0.005)
        storage.roll_over()
    return float(np.mean(env.rewards[-500:]))


@pytest.mark.parametrize("algorithm", ["ppo", "appo", "vtrace"])
def test_each_algorithm_learns_to_name_what_it_sees(algorithm: str) -> None:
    assert success_after(algorithm, "none", delay=0, updates=60) > 0.95


@pytest.mark.parametrize(
    ("algorithm", "memory"),
    [
        ("ppo", "gru"),
        ("ppo", "lstm"),
        ("vtrace", "gru"),
        ("vtrace", "lstm"),
        ("vtrace", "transformer"),
        pytest.param("ppo", "transformer", marks=pytest.mark.slow),
    ],
)
def test_each_recurrent_core_recalls_what_it_saw(algorithm: str, memory: str) -> None:
    assert success_after(algorithm, memory, delay=1, updates=120) > 0.9


def test_without_a_recurrent_core_recall_stays_at_chance() -> None:
    assert success_after("ppo", "none", delay=1, updates=60) < 0.45
