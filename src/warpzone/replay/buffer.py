"""The replay memory: transitions with their returns, drawn by how much better they were."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from warpzone.replay.figures import SampleFigures, describe_priorities
from warpzone.replay.frames import FrameStore, StackWriter
from warpzone.replay.samplers import ChosenSampler, Indices, Kind

# Room for stacks that share nothing with the moment before: starts from save states.
_SPARE_FRAMES = 1.1
_SMALLEST_PRIORITY = 1e-3


@dataclass(frozen=True)
class ReplaySettings:
    """How transitions are kept and drawn.

    Attributes:
        capacity: Transitions that are kept.
        alpha: How strongly priorities count: 0 not at all, 1 in proportion.
        half: Keep returns and values in 16 bits.
        sampler: Which way of drawing.
    """

    capacity: int = 200_000
    alpha: float = 0.6
    half: bool = True
    sampler: Kind = "auto"


class Moments(NamedTuple):
    """What a rollout gives to replay, [T, N, ...], all on the CPU.

    Attributes:
        stacks: uint8 observations, [T, N, C, ...]; C is a multiple of the stack.
        features: What comes beside them, or None.
        first: Whether an episode begins with the observation.
        actions: What was done.
        returns: What it led to.
        values: What the critic had said.
    """

    stacks: Tensor
    features: Tensor | None
    first: Tensor
    actions: Tensor
    returns: Tensor
    values: Tensor


class Drawn(NamedTuple):
    """Transitions drawn from replay, [B, ...].

    Attributes:
        obs: As the network takes them: stacks, or stacks and features.
        actions: What was done.
        returns: What it led to.
        weights: Importance weights, at most 1.
        indices: To give new priorities by.
    """

    obs: Tensor | tuple[Tensor, Tensor]
    actions: Tensor
    returns: Tensor
    weights: Tensor
    indices: Indices


class PrioritizedReplay:
    """Keeps the last transitions of all lanes."""

    def __init__(
        self,
        settings: ReplaySettings,
        *,
        lanes: int,
        stack: int,
        stack_shape: tuple[int, ...],
        features: int = 0,
        device: torch.device | None = None,
        seed: int = 0,
    ):
        """Allocates everything once.

        Args:
            settings: How transitions are kept.
            lanes: N.
            stack: Pictures in an observation.
            stack_shape: Of one observation: the first number is a multiple of `stack`.
            features: Length of what comes beside the stack; 0 for nothing.
            device: The network's, where draws may be made.
            seed: Of the draws.
        """
        if stack_shape[0] % stack:
            raise ValueError(f"{stack_shape[0]} channels are no stack of {stack} pictures")
        capacity = settings.capacity
        self.settings = settings
        self.pushed = 0
        """Transitions pushed so far."""
        self._stack, self._stack_shape = stack, stack_shape
        self._picture_shape = (stack_shape[0] // stack, *stack_shape[1:])
        slots = int(capacity * _SPARE_FRAMES) + lanes * stack
        self._frames = FrameStore(slots, self._picture_shape)
        self._writer = StackWriter(self._frames, lanes, stack)
        kind = np.float16 if settings.half else np.float32
        self._numbers = np.zeros((capacity, stack), np.int64)
        self._features = np.zeros((capacity, features), np.uint8)
        self._actions = np.zeros(capacity, np.int16)
        self._returns: NDArray[np.floating[Any]] = np.zeros(capacity, kind)
        self._sampler = ChosenSampler(capacity, device or torch.device("cpu"), settings.sampler)
        self._random = torch.Generator().manual_seed(seed)
        self._lost = 0
        self._figures = SampleFigures()

    @property
    def capacity(self) -> int:
        """Transitions that fit."""
        return self.settings.capacity

    def __len__(self) -> int:
        """Transitions that are there."""
        return min(self.pushed, self.capacity)

    @property
    def nbytes(self) -> int:
        """Memory that is allocated, the tree included."""
        arrays = (self._numbers, self._features, self._actions, self._returns)
        own = sum(array.nbytes for array in arrays)
        return self._frames.nbytes + own + self._sampler.tree.nbytes

    def push(self, moments: Moments) -> None:
        """Takes a rollout in place of the oldest transitions.

        Raises:
            ValueError: For more transitions at once than fit.
        """
        steps, lanes = moments.actions.shape
        count = steps * lanes
        if count > self.capacity:
            raise ValueError(f"{count} transitions at once do not fit into {self.capacity}")
        slots = (self.pushed + np.arange(count)) % self.capacity
        stacks = moments.stacks.numpy().reshape(steps, lanes, self._stack, *self._picture_shape)
        first = moments.first.numpy()
        for t in range(steps):
            at = slots[t * lanes : (t + 1) * lanes]
            self._numbers[at] = self._writer.write(stacks[t], first[t])
        if moments.features is not None:
            self._features[slots] = moments.features.numpy().reshape(count, -1)
        self._actions[slots] = moments.actions.numpy().reshape(-1)
        self._returns[slots] = moments.returns.numpy().reshape(-1)
        self.pushed += count
        self._sampler.set(slots, self._priorities(moments.returns - moments.values))
        self._forget_incomplete()

    def _priorities(self, advantages: Tensor) -> NDArray[np.float64]:
        better = advantages.double().clamp(min=0.0).nan_to_num(0.0).reshape(-1).numpy()
        priorities: NDArray[np.float64] = (better + _SMALLEST_PRIORITY) ** self.settings.alpha
        return priorities

    def _forget_incomplete(self) -> None:
        """Transitions whose pictures made room for newer ones are never drawn again."""
        oldest = self._numbers[: len(self)].min(1)
        lost = np.flatnonzero(~self._frames.holds(oldest))
        self._lost = len(lost)
        if self._lost:
            self._sampler.set(lost, np.zeros(len(lost)))

    def sample(self, count: int, beta: float) -> Drawn:
        """Draws transitions, with repetition, in proportion to their priorities.

        Args:
            count: How many.
            beta: How much of the bias that comes with unequal chances the weights undo: 0 to 1.

        Raises:
            ValueError: When nothing was pushed yet.
        """
        if not len(self):
            raise ValueError("nothing was pushed yet")
        began = time.perf_counter()
        # One draw from each of `count` equal parts of the sum: as proportional, with less spread.
        noise = torch.rand(count, generator=self._random, dtype=torch.float64).numpy()
        indices = self._sampler.find((np.arange(count) + noise) / count)
        drawn = time.perf_counter()
        chances = self._sampler.tree.get(indices) / self._sampler.tree.total
        weights = (len(self) * chances) ** -beta
        result = Drawn(
            self._obs(indices),
            torch.from_numpy(self._actions[indices].astype(np.int64)),
            torch.from_numpy(self._returns[indices].astype(np.float32)),
            torch.from_numpy((weights / weights.max()).astype(np.float32)),
            indices,
        )
        self._figures.note(indices, drawn - began, time.perf_counter() - drawn)
        return result

    def _obs(self, indices: Indices) -> Tensor | tuple[Tensor, Tensor]:
        pictures = self._frames.take(self._numbers[indices])
        stacks = torch.from_numpy(pictures.reshape(len(indices), *self._stack_shape))
        if self._features.shape[1] == 0:
            return stacks
        return stacks, torch.from_numpy(self._features[indices])

    def set_priorities(self, indices: Indices, advantages: Tensor) -> None:
        """Gives drawn transitions priorities by how much better they are than the critic says."""
        # Of one drawn twice, both advantages are the same; devices want each index once.
        indices, places = np.unique(indices, return_index=True)
        self._sampler.set(indices, self._priorities(advantages.cpu())[places])

    def take_metrics(self) -> dict[str, float | int]:
        """How full it is and how it was drawn from since the last call."""
        row: dict[str, float | int] = {
            "replay/fill": (len(self) - self._lost) / self.capacity,
            "replay/pushed": self.pushed,
            "replay/device_sampler": int(self._sampler.uses_device),
        }
        return row | self._figures.take() | describe_priorities(self._live_weights())

    def _live_weights(self) -> NDArray[np.float64]:
        weights = self._sampler.tree.weights()[: len(self)]
        return weights[weights > 0]

    def state_dict(self) -> dict[str, Any]:
        """Everything, as views where it is large: save it before the next push."""
        used = slice(0, len(self))
        return {
            "pushed": self.pushed,
            "frames": self._frames.state_dict(),
            "writer": self._writer.state_dict(),
            "numbers": torch.from_numpy(self._numbers[used]),
            "features": torch.from_numpy(self._features[used]),
            "actions": torch.from_numpy(self._actions[used]),
            "returns": torch.from_numpy(self._returns[used]),
            "weights": torch.from_numpy(self._sampler.tree.weights()[used]),
            "random": self._random.get_state(),
            "figures": self._figures.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Takes what `state_dict` of a memory with the same settings gave."""
        self.pushed = state["pushed"]
        self._frames.load_state_dict(state["frames"])
        self._writer.load_state_dict(state["writer"])
        used = slice(0, len(self))
        for name in ("numbers", "features", "actions", "returns"):
            getattr(self, f"_{name}")[used] = state[name].numpy()
        self._sampler.set(np.arange(len(self)), state["weights"].numpy())
        self._random.set_state(state["random"])
        self._figures.load_state_dict(state["figures"])
        self._forget_incomplete()
