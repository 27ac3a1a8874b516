"""The prioritized replay buffer: transitions with returns, sampled by how much better they were."""

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

_SMALLEST_PRIORITY = 1e-3


class Transitions(NamedTuple):
    """What a rollout adds to replay, [T, N, ...], all on the CPU.

    Attributes:
        obs: Observations by name.
        first: Whether an episode begins with the observation.
        actions: Actions taken.
        returns: What they led to.
        values: What the critic had expected.
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
        returns: What they led to.
        weights: Importance weights, at most 1.
        indices: Identify the transitions for `set_priorities`.
    """

    obs: Tree
    actions: Tensor
    returns: Tensor
    weights: Tensor
    indices: Indices


class PrioritizedReplay:
    """Keeps the last transitions of all environments."""

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
        """Allocates everything once.

        Args:
            options: Capacity, priorities and precision.
            obs_spaces: The named parts of one observation.
            tree: An empty sum-tree of the capacity.
            num_envs: N.
            stacks: Parts that are stacks of frames, with the number of frames; frames are stored
                once, everything else as it is.
            device: The network's, where samples may be drawn.
            seed: Of the samples.
        """
        self.capacity = options.capacity
        self.pushed = 0
        """Transitions pushed so far."""
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
        """Transitions that are stored."""
        return min(self.pushed, self.capacity)

    @property
    def nbytes(self) -> int:
        """Memory that is allocated, the tree included."""
        columns = sum(column.nbytes for column in self._columns.values())
        return columns + self._actions.nbytes + self._returns.nbytes + self._sampler.tree.nbytes

    def push(self, transitions: Transitions) -> None:
        """Stores a rollout in place of the oldest transitions.

        Raises:
            ValueError: For more transitions at once than fit.
        """
        count = transitions.actions.numel()
        if count > self.capacity:
            raise ValueError(f"{count} transitions at once do not fit into {self.capacity}")
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
        priorities: NDArray[np.float64] = (better + _SMALLEST_PRIORITY) ** self._alpha
        return priorities

    def _forget_lost(self) -> None:
        """Transitions whose frames made room for newer ones are never sampled again."""
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
            count: How many.
            beta: How much of the bias of unequal probabilities the weights correct: 0 to 1.

        Raises:
            ValueError: Nothing was pushed yet.
        """
        if not len(self):
            raise ValueError("nothing was pushed yet")
        began = time.perf_counter()
        # One sample from each of `count` equal parts of the sum: as proportional, less variance.
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
        """Gives sampled transitions priorities by how much better they are than expected."""
        # A transition that was sampled twice has one advantage; devices want each index once.
        indices, places = np.unique(indices, return_index=True)
        self._sampler.set(indices, self._priorities(advantages.cpu())[places])

    def take_metrics(self) -> dict[str, float | int]:
        """How full the buffer is and how it was sampled since the last call."""
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
        """Everything, as views where it is large: save it before the next push."""
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
        """Restores what `state_dict` of a buffer with the same options returned."""
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
