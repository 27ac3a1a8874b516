"""Pictures kept once each, and the stacks made of them again.

An observation is a stack of the last few pictures; kept as it is, every picture would lie in memory
as often as a stack is high. Here a stack is a row of numbers of pictures.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Pictures = NDArray[np.uint8]


class FrameStore:
    """A ring of pictures. A picture's number never changes and is never given again."""

    def __init__(self, slots: int, shape: tuple[int, ...]):
        """Allocates room for `slots` pictures; the system hands it out as it fills."""
        self._ring: Pictures = np.zeros((slots, *shape), np.uint8)
        self.total = 0
        """Pictures added so far."""

    @property
    def slots(self) -> int:
        """How many pictures fit."""
        return len(self._ring)

    @property
    def nbytes(self) -> int:
        """Memory that is allocated."""
        return self._ring.nbytes

    def add(self, pictures: Pictures) -> Numbers:
        """Keeps pictures, in place of the oldest, and returns their numbers."""
        numbers = np.arange(self.total, self.total + len(pictures))
        self._ring[numbers % self.slots] = pictures
        self.total += len(pictures)
        return numbers

    def holds(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Whether pictures are still there."""
        return numbers >= self.total - self.slots

    def take(self, numbers: Numbers) -> Pictures:
        """Returns pictures by number, in an array of its shape and theirs."""
        taken: Pictures = self._ring[numbers % self.slots]
        return taken

    def state_dict(self) -> dict[str, Any]:
        """All pictures that are there."""
        used = self._ring[: min(self.total, self.slots)]
        return {"pictures": torch.from_numpy(used), "total": self.total}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Takes what `state_dict` gave."""
        self._ring[: len(state["pictures"])] = state["pictures"].numpy()
        self.total = state["total"]


class StackWriter:
    """Adds the pictures of stacked observations that are not there yet."""

    def __init__(self, store: FrameStore, lanes: int, stack: int):
        """Begins without a memory of what the lanes showed."""
        self._store, self._stack = store, stack
        self._last: Numbers | None = None
        self._lanes = lanes

    def write(self, stacks: Pictures, first: NDArray[np.bool_]) -> Numbers:
        """Keeps one moment of every lane.

        Args:
            stacks: [N, stack, ...], the newest picture last.
            first: Where an episode begins: the stack there owes nothing to the moment before.

        Returns:
            Numbers of the pictures, [N, stack].
        """
        last = self._last
        if last is None:
            last, first = np.zeros((self._lanes, self._stack), np.int64), np.ones_like(first)
        numbers = np.empty_like(last)
        numbers[:, :-1] = last[:, 1:]
        numbers[~first, -1] = self._store.add(stacks[~first, -1])
        for lane in np.flatnonzero(first):
            numbers[lane] = self._write_start(stacks[lane])
        self._last = numbers
        return numbers

    def _write_start(self, stack: Pictures) -> list[int]:
        """After a reset a stack is one picture several times; after a save state it need not be."""
        numbers: list[int] = []
        for position, picture in enumerate(stack):
            if position and np.array_equal(picture, stack[position - 1]):
                numbers.append(numbers[-1])
            else:
                numbers.append(int(self._store.add(picture[None])[0]))
        return numbers

    def state_dict(self) -> dict[str, Any]:
        """What the next moment's stacks are made of."""
        return {"last": self._last}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Takes what `state_dict` gave."""
        self._last = state["last"]
