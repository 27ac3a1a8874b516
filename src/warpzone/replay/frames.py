"""Storage of frames, and of frame stacks as lists of frame numbers.

An observation is a stack of the last few frames. Stored directly, every frame would take memory
once per stack that contains it. Here each frame is stored once, and a stack is a row of frame
numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Frames = NDArray[Any]


class FrameStore:
    """Ring buffer of frames. A frame's number never changes and is never reused."""

    def __init__(self, slots: int, shape: tuple[int, ...], dtype: Any = np.uint8):
        """Allocates room for `slots` frames; the OS commits the memory as it fills."""
        self._ring: Frames = np.zeros((slots, *shape), dtype)
        self.total = 0
        """Number of frames added so far."""

    @property
    def slots(self) -> int:
        """Capacity in frames."""
        return len(self._ring)

    @property
    def nbytes(self) -> int:
        """Allocated memory in bytes."""
        return self._ring.nbytes

    def add(self, frames: Frames) -> Numbers:
        """Stores frames, replacing the oldest, and returns their numbers."""
        numbers = np.arange(self.total, self.total + len(frames))
        self._ring[numbers % self.slots] = frames
        self.total += len(frames)
        return numbers

    def holds(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Returns which frames are still stored."""
        return numbers >= self.total - self.slots

    def take(self, numbers: Numbers) -> Frames:
        """Returns frames by number; the shape is `numbers.shape` plus the shape of a frame."""
        taken: Frames = self._ring[numbers % self.slots]
        return taken

    def state_dict(self) -> dict[str, Any]:
        """Returns all stored frames."""
        used = self._ring[: min(self.total, self.slots)]
        return {"frames": torch.from_numpy(used), "total": self.total}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self._ring[: len(state["frames"])] = state["frames"].numpy()
        self.total = state["total"]


class StackWriter:
    """Adds the frames of stacked observations that are not stored yet."""

    def __init__(self, store: FrameStore, num_envs: int, stack: int):
        """Creates a writer without previous observations."""
        self._store, self._stack = store, stack
        self._last: Numbers | None = None
        self._num_envs = num_envs

    def write(self, stacks: Frames, first: NDArray[np.bool_]) -> Numbers:
        """Stores one step of every environment.

        Args:
            stacks: [N, stack, ...], the newest frame last.
            first: Where an episode begins; such a stack shares no frames with the previous step.

        Returns:
            Numbers of the frames, [N, stack].
        """
        last = self._last
        if last is None:
            last, first = np.zeros((self._num_envs, self._stack), np.int64), np.ones_like(first)
        numbers = np.empty_like(last)
        numbers[:, :-1] = last[:, 1:]
        numbers[~first, -1] = self._store.add(stacks[~first, -1])
        for env in np.flatnonzero(first):
            numbers[env] = self._write_start(stacks[env])
        self._last = numbers
        return numbers

    def _write_start(self, stack: Frames) -> list[int]:
        """Stores a first stack: one repeated frame after a reset, maybe several otherwise."""
        numbers: list[int] = []
        for position, frame in enumerate(stack):
            if position and np.array_equal(frame, stack[position - 1]):
                numbers.append(numbers[-1])
            else:
                numbers.append(int(self._store.add(frame[None])[0]))
        return numbers

    def state_dict(self) -> dict[str, Any]:
        """Returns the frame numbers that the next stacks build on."""
        return {"last": self._last}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self._last = state["last"]
