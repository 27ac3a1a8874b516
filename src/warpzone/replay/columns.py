"""Observations of a replay buffer, one column per named part."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor

from warpzone.replay.frames import FrameStore, StackWriter

Indices = NDArray[np.int64]

# Extra room for stacks that share no frames with the previous step (starts from save states).
_SPARE_FRAMES = 1.1


class Column(Protocol):
    """One named part of the observations."""

    @property
    def nbytes(self) -> int:
        """Allocated memory in bytes."""

    def write(self, slots: Indices, values: Tensor, first: NDArray[np.bool_]) -> None:
        """Stores the values of a rollout, [T, N, ...]; slots are in time-major order."""

    def take(self, slots: Indices) -> Tensor:
        """Returns stored values, [B, ...]."""

    def is_lost(self, used: int) -> NDArray[np.bool_]:
        """Returns which of the first `used` slots can no longer be read."""

    def state_dict(self, used: int) -> dict[str, Any]:
        """Returns the first `used` slots, as views."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""


class PlainColumn:
    """Values that are stored unchanged."""

    def __init__(self, capacity: int, space: spaces.Box):
        """Allocates the slots."""
        self._values: NDArray[Any] = np.zeros((capacity, *space.shape), space.dtype)

    @property
    def nbytes(self) -> int:
        """Allocated memory in bytes."""
        return self._values.nbytes

    def write(self, slots: Indices, values: Tensor, first: NDArray[np.bool_]) -> None:
        """Stores the values of a rollout."""
        del first
        self._values[slots] = values.numpy().reshape(len(slots), *self._values.shape[1:])

    def take(self, slots: Indices) -> Tensor:
        """Returns stored values."""
        return torch.from_numpy(self._values[slots])

    def is_lost(self, used: int) -> NDArray[np.bool_]:
        """Returns all False: plain values are never lost."""
        return np.zeros(used, np.bool_)

    def state_dict(self, used: int) -> dict[str, Any]:
        """Returns the stored values."""
        return {"values": torch.from_numpy(self._values[:used])}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self._values[: len(state["values"])] = state["values"].numpy()


class StackedColumn:
    """Stacks of frames, each frame stored once."""

    def __init__(self, capacity: int, space: spaces.Box, num_envs: int, stack: int):
        """Allocates the slots.

        Args:
            capacity: Number of slots.
            space: Space of a stack; its first dimension is a multiple of `stack`.
            num_envs: Number of environments.
            stack: Number of frames per stack.
        """
        self._shape = space.shape
        if self._shape[0] % stack:
            raise ValueError(f"{self._shape[0]} channels are not a stack of {stack} frames")
        self._frame_shape = (self._shape[0] // stack, *self._shape[1:])
        slots = int(capacity * _SPARE_FRAMES) + num_envs * stack
        self.frames = FrameStore(slots, self._frame_shape, space.dtype)
        self._writer = StackWriter(self.frames, num_envs, stack)
        self._numbers = np.zeros((capacity, stack), np.int64)

    @property
    def nbytes(self) -> int:
        """Allocated memory in bytes."""
        return self.frames.nbytes + self._numbers.nbytes

    def write(self, slots: Indices, values: Tensor, first: NDArray[np.bool_]) -> None:
        """Stores the stacks of a rollout."""
        steps, num_envs = first.shape
        stacks = values.numpy().reshape(steps, num_envs, self._numbers.shape[1], *self._frame_shape)
        for t in range(steps):
            at = slots[t * num_envs : (t + 1) * num_envs]
            self._numbers[at] = self._writer.write(stacks[t], first[t])

    def take(self, slots: Indices) -> Tensor:
        """Returns stored stacks."""
        frames = self.frames.take(self._numbers[slots])
        return torch.from_numpy(frames.reshape(len(slots), *self._shape))

    def is_lost(self, used: int) -> NDArray[np.bool_]:
        """Returns which stacks have lost their oldest frame to a newer one."""
        return ~self.frames.holds(self._numbers[:used].min(1))

    def state_dict(self, used: int) -> dict[str, Any]:
        """Returns the frames and the stacks that refer to them."""
        return {
            "frames": self.frames.state_dict(),
            "writer": self._writer.state_dict(),
            "numbers": torch.from_numpy(self._numbers[:used]),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self.frames.load_state_dict(state["frames"])
        self._writer.load_state_dict(state["writer"])
        self._numbers[: len(state["numbers"])] = state["numbers"].numpy()
