"""Prioritized replay buffer of transitions with returns, prioritized by positive advantage."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor

from warpzone.config import ReplayOptions
from warpzone.models.tree import Tree
from warpzone.replay.columns import Column, Indices, PlainColumn, StackedColumn
from warpzone.replay.metrics import SampleMetrics, priority_metrics
from warpzone.replay.samplers import ChosenSampler, SumTree

_MIN_PRIORITY = 1e-3


class Transitions(NamedTuple):
    """Transitions of a rollout, [T, N, ...], all on the CPU.

    Attributes:
        obs: Observations by name.
        first: Whether the observation is the first of an episode.
        actions: Actions taken.
        returns: Returns of the actions.
        values: Value estimates of the critic.
    """

    obs: Tree
    first: Tensor
    actions: Tensor
    returns: Tensor
    values: Tensor


class Sample(NamedTuple):
    """Transitions sampled from replay, [B, ...].

    Attributes:
        obs: Observations by name.
        actions: Actions taken.
        returns: Returns of the actions.
        weights: Importance-sampling weights, at most 1.
        indices: Indices of the transitions, for `set_priorities`.
    """

    obs: Tree
    actions: Tensor
    returns: Tensor
    weights: Tensor
    indices: Indices


class PrioritizedReplay:
    """Stores the most recent transitions of all environments."""

    def __init__(
        self,
        options: ReplayOptions,
        obs_spaces: Mapping[str, spaces.Box],
        tree: SumTree,
        *,
        num_envs: int,
        stacks: Mapping[str, int],
        device: torch.device | None = None,
        seed: int = 0,
    ):
        """Allocates the whole buffer.

        Args:
            options: Capacity, priorities and precision.
            obs_spaces: Named parts of one observation.
            tree: Empty sum tree with the same capacity.
            num_envs: Number of environments.
            stacks: Parts that are stacks of frames, with the number of frames. Each frame of a
                stack is stored once; other parts are stored unchanged.
            device: Device of the network, on which sampling may run.
            seed: Random seed for sampling.
        """
        self.capacity = options.capacity
        self.pushed = 0
        """Number of transitions added so far."""
        self._alpha = options.alpha
        self._columns: dict[str, Column] = {
            name: StackedColumn(self.capacity, space, num_envs, stacks[name])
            if name in stacks
            else PlainColumn(self.capacity, space)
            for name, space in obs_spaces.items()
        }
        self._actions = np.zeros(self.capacity, np.int16)
        kind = np.float16 if options.half else np.float32
        self._returns: NDArray[np.floating[Any]] = np.zeros(self.capacity, kind)
        self._sampler = ChosenSampler(tree, self.capacity, device, options.sampler)
        self._random = torch.Generator().manual_seed(seed)
        self._lost = 0
        self._metrics = SampleMetrics()

    def __len__(self) -> int:
        """Returns the number of stored transitions."""
        return min(self.pushed, self.capacity)

    @property
    def nbytes(self) -> int:
        """Allocated memory in bytes, including the tree."""
        columns = sum(column.nbytes for column in self._columns.values())
        return columns + self._actions.nbytes + self._returns.nbytes + self._sampler.tree.nbytes

    def push(self, transitions: Transitions) -> None:
        """Adds a rollout, replacing the oldest transitions.

        Raises:
            ValueError: The rollout has more transitions than the buffer can hold.
        """
        count = transitions.actions.numel()
        if count > self.capacity:
            raise ValueError(f"{count} transitions do not fit into a capacity of {self.capacity}")
        slots = (self.pushed + np.arange(count)) % self.capacity
        first = transitions.first.numpy()
        for name, column in self._columns.items():
            column.write(slots, transitions.obs[name], first)
        self._actions[slots] = transitions.actions.numpy().reshape(-1)
        self._returns[slots] = transitions.returns.numpy().reshape(-1)
        self.pushed += count
        self._sampler.set(slots, self._priorities(transitions.returns - transitions.values))
        self._forget_lost()

    def _priorities(self, advantages: Tensor) -> NDArray[np.float64]:
        better = advantages.double().clamp(min=0.0).nan_to_num(0.0).reshape(-1).numpy()
        priorities: NDArray[np.float64] = (better + _MIN_PRIORITY) ** self._alpha
        return priorities

    def _forget_lost(self) -> None:
        """Sets the priority of transitions whose frames were overwritten to zero."""
        lost = np.zeros(len(self), np.bool_)
        for column in self._columns.values():
            lost |= column.is_lost(len(self))
        indices = np.flatnonzero(lost)
        self._lost = len(indices)
        if self._lost:
            self._sampler.set(indices, np.zeros(len(indices)))

    def sample(self, count: int, beta: float) -> Sample:
        """Samples transitions, with repetition, in proportion to their priorities.

        Args:
            count: Number of transitions.
            beta: Exponent of the importance-sampling weights, from 0 (no correction) to 1.

        Raises:
            ValueError: The buffer is empty.
        """
        if not len(self):
            raise ValueError("the replay buffer is empty")
        began = time.perf_counter()
        # Stratified: one sample from each of `count` equal parts of the sum reduces variance.
        noise = torch.rand(count, generator=self._random, dtype=torch.float64).numpy()
        indices = self._sampler.find((np.arange(count) + noise) / count)
        drawn = time.perf_counter()
        chances = self._sampler.tree.get(indices) / self._sampler.tree.total
        weights = (len(self) * chances) ** -beta
        result = Sample(
            {name: column.take(indices) for name, column in self._columns.items()},
            torch.from_numpy(self._actions[indices].astype(np.int64)),
            torch.from_numpy(self._returns[indices].astype(np.float32)),
            torch.from_numpy((weights / weights.max()).astype(np.float32)),
            indices,
        )
        self._metrics.note(indices, drawn - began, time.perf_counter() - drawn)
        return result

    def set_priorities(self, indices: Indices, advantages: Tensor) -> None:
        """Updates the priorities of sampled transitions from their advantages."""
        # A transition may have been sampled twice, but device samplers need unique indices.
        indices, places = np.unique(indices, return_index=True)
        self._sampler.set(indices, self._priorities(advantages.cpu())[places])

    def take_metrics(self) -> dict[str, float | int]:
        """Returns metrics of the buffer, and of sampling since the last call."""
        row: dict[str, float | int] = {
            "replay/fill": (len(self) - self._lost) / self.capacity,
            "replay/pushed": self.pushed,
            "replay/device_sampler": int(self._sampler.uses_device),
        }
        return row | self._metrics.take() | priority_metrics(self._live_weights())

    def _live_weights(self) -> NDArray[np.float64]:
        weights = self._sampler.tree.weights()[: len(self)]
        return weights[weights > 0]

    def state_dict(self) -> dict[str, Any]:
        """Returns the whole state; large arrays are views, so save it before the next push."""
        used = len(self)
        return {
            "pushed": self.pushed,
            "obs": {name: column.state_dict(used) for name, column in self._columns.items()},
            "actions": torch.from_numpy(self._actions[:used]),
            "returns": torch.from_numpy(self._returns[:used]),
            "weights": torch.from_numpy(self._sampler.tree.weights()[:used]),
            "random": self._random.get_state(),
            "metrics": self._metrics.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state of a buffer with the same options."""
        self.pushed = state["pushed"]
        used = len(self)
        for name, column in self._columns.items():
            column.load_state_dict(state["obs"][name])
        self._actions[:used] = state["actions"].numpy()
        self._returns[:used] = state["returns"].numpy()
        self._sampler.set(np.arange(used), state["weights"].numpy())
        self._random.set_state(state["random"])
        self._metrics.load_state_dict(state["metrics"])
        self._forget_lost()
