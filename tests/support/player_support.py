"""Native rollouts, for tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from policy_support import FEATURES, grid_shape, layout_of, make_encoder

from warpzone import _native
from warpzone.envs.vector import MarioVectorEnv
from warpzone.evaluation.native_network import copy_weights, make_native_network
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.memory import make_memory

ACTIONS = 7


def make_model(hidden: int = 256, *, actions: int = ACTIONS, noisy: bool = False) -> ActorCritic:
    """Returns a tile network with a bias toward some actions."""
    encoder = make_encoder(2, hidden, hidden // 2)
    memory = make_memory("none", encoder.size, 0, 0)
    torch.manual_seed(5)
    model = ActorCritic(encoder, memory, actions, noisy_heads=noisy)
    with torch.no_grad():
        model.policy.weight.normal_(0.0, 0.2)
        for layer in (encoder.first, encoder.second, model.policy, model.value):
            layer.bias.normal_(0.0, 0.1)
        # Mostly to the right; otherwise Mario would not get anywhere.
        model.policy.bias[1:5] += 1.0
    return model


def make_env(level: Any = "1-1", num_envs: int = 4, **options: Any) -> MarioVectorEnv:
    options = {"obs": "tiles", "autoreset": "same-step", "actions": "simple"} | options
    return MarioVectorEnv(level, num_envs=num_envs, **options)


@dataclass
class Rollout:
    """Arrays of a rollout with T steps of N environments."""

    actions: NDArray[np.int64]
    log_probs: NDArray[np.float32]
    values: NDArray[np.float32]
    final_values: NDArray[np.float32]
    rewards: NDArray[np.float32]
    terminated: NDArray[np.uint8]
    truncated: NDArray[np.uint8]
    first: NDArray[np.uint8]
    progress: NDArray[np.int32]
    stagnation: NDArray[np.int32]
    active: NDArray[np.uint16]
    random: NDArray[np.uint64]
    grids: NDArray[np.uint8]
    features: NDArray[np.uint8]

    @classmethod
    def empty(cls, steps: int, envs: int, capacity: int) -> Rollout:
        shape, more = (steps, envs), (steps + 1, envs)
        return cls(
            actions=np.full(shape, -1, np.int64),
            log_probs=np.full(shape, np.nan, np.float32),
            values=np.full(more, np.nan, np.float32),
            final_values=np.full(shape, np.nan, np.float32),
            rewards=np.full(shape, np.nan, np.float32),
            terminated=np.full(shape, 9, np.uint8),
            truncated=np.full(shape, 9, np.uint8),
            first=np.full(more, 9, np.uint8),
            progress=np.full(shape, -9, np.int32),
            stagnation=np.full(shape, -9, np.int32),
            active=np.zeros((*more, capacity), np.uint16),
            random=np.arange(100, 100 + envs, dtype=np.uint64),
            grids=np.zeros((*more, *grid_shape(2)), np.uint8),
            features=np.zeros((*more, len(FEATURES)), np.uint8),
        )

    @property
    def ended(self) -> NDArray[np.bool_]:
        ended: NDArray[np.bool_] = (self.terminated | self.truncated).astype(np.bool_)
        return ended


class Played:
    """An environment, its player, and the arrays of the last rollout."""

    def __init__(self, env: MarioVectorEnv, steps: int, model: ActorCritic | None = None):
        self.env, self.model = env, model or make_model()
        self.layout = layout_of(self.model.encoder)
        self.network = make_native_network(self.layout, self.model)
        copy_weights(self.model, self.network)
        self.player = _native.RolloutPlayer(env.pool, self.network)
        self.rollout = Rollout.empty(steps, env.num_envs, self.layout.capacity)
        self._arrays = self.player.arrays(steps, **vars(self.rollout))

    def play(self) -> Rollout:
        self.player.play(self._arrays)
        return self.rollout
