"""Arrays of a vector environment: observations leased to the user, infos copied in one piece.

Allocating observations anew at every step would cost more than writing them, so their memory is
reused. Ownership is explicit: `ObsBuffers.lease` returns arrays that are views of one array made
for this lease. Views and tensors of them refer to that array too, so it is finalized exactly when
nothing refers to the observation any more, and its finalizer returns the memory. No reference is
counted, and any thread may drop the last one.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from warpzone import _native
from warpzone.envs.lazy_info import LazyInfo

#: More buffers than this are not reused: then the user collects observations.
_MOST_KEPT = 4
_BYTE = np.dtype(np.uint8)

Obs = Any  # An array, or a dict of arrays for tiles.


class ObsBuffer:
    """Memory for one batch of observations, with the native batch that writes into it."""

    def __init__(
        self, space: spaces.Space[Any], make_batch: Callable[[Obs], _native.Batch]
    ) -> None:
        """Allocates the memory.

        Args:
            space: The batched space of the observations.
            make_batch: Returns the native batch that writes into such arrays.
        """
        boxes = space.spaces if isinstance(space, spaces.Dict) else {None: space}
        self._shapes = {name: tuple(box.shape or ()) for name, box in boxes.items()}
        size = sum(int(np.prod(shape)) for shape in self._shapes.values())
        # Not an array: NumPy makes the innermost array of a chain of views the base of each, and that
        # must be the array of the lease.
        self._memory = bytearray(size)
        self.batch = make_batch(self._carve(self._memory))
        self.on_release: Callable[[ObsBuffer], None] | None = None
        self._watch: weakref.ref[Any] | None = None

    def lease(self) -> Obs:
        """Returns the arrays; `on_release` is called when nothing refers to them any more."""
        whole = np.ndarray(len(self._memory), _BYTE, self._memory)
        if self.on_release is not None:
            self._watch = weakref.ref(whole, self._release)
        return self._carve(whole)

    def _release(self, _: object) -> None:
        if self.on_release is not None:
            self.on_release(self)

    def _carve(self, whole: Any) -> Obs:
        arrays = {}
        begin = 0
        for name, shape in self._shapes.items():
            arrays[name] = array = np.ndarray(shape, _BYTE, whole, begin)
            begin += array.nbytes
        return arrays[None] if None in arrays else arrays


class ObsBuffers:
    """The buffers of an environment: those in use, and those that are free."""

    def __init__(self, make: Callable[[], ObsBuffer]) -> None:
        """Takes the function that makes a buffer."""
        self._make = make
        self._kept: list[ObsBuffer] = []
        self._free: list[ObsBuffer] = []

    def lease(self) -> tuple[Obs, _native.Batch]:
        """Returns arrays that belong to the caller, and the native batch that writes into them."""
        try:
            buffer = self._free.pop()
        except IndexError:
            buffer = self._make()
            if len(self._kept) < _MOST_KEPT:
                buffer.on_release = self._free.append
                self._kept.append(buffer)
        return buffer.lease(), buffer.batch

    def clear(self) -> None:
        """Lets go of all memory; arrays that the user holds stay valid."""
        for buffer in self._kept:
            buffer.on_release = None
        self._kept.clear()
        self._free.clear()


class InfoArrays:
    """What an info is made of, as the native side writes it: arrays in one block of memory."""

    def __init__(self, num_envs: int) -> None:
        """Allocates the block for some environments."""
        self._num_envs = num_envs
        size = 4 * num_envs * (len(_native.INFO_NUMBERS) + len(_native.REWARD_TERMS))
        size += 4 * num_envs * int(np.prod(_native.ENEMY_SHAPE))
        size += num_envs * len(_native.INFO_FLAGS)
        self._block = np.zeros(size, _BYTE)
        self.numbers, self.enemies, self.terms, self.flags = _carve_info(self._block, num_envs)

    def info(self) -> dict[str, Any]:
        """Returns the present values as a dict with one array per field, built when first read."""
        return LazyInfo(_INFO_NAMES, partial(_read_info, self._block.copy(), self._num_envs))


_INFO_NAMES = dict.fromkeys((*_native.INFO_NUMBERS, *_native.INFO_FLAGS, "reward_terms", "enemies"))


def _carve_info(block: NDArray[np.uint8], num_envs: int) -> tuple[NDArray[Any], ...]:
    """The arrays of a block; the one of single bytes comes last, which keeps the others aligned."""
    layout: tuple[tuple[tuple[int, ...], type[Any]], ...] = (
        ((len(_native.INFO_NUMBERS), num_envs), np.int32),
        ((num_envs, *_native.ENEMY_SHAPE), np.int32),
        ((num_envs, len(_native.REWARD_TERMS)), np.float32),
        ((len(_native.INFO_FLAGS), num_envs), np.bool_),
    )
    arrays: list[NDArray[Any]] = []
    begin = 0
    for shape, dtype in layout:
        arrays.append(np.ndarray(shape, dtype, block, begin))
        begin += arrays[-1].nbytes
    return tuple(arrays)


def _read_info(block: NDArray[np.uint8], num_envs: int) -> dict[str, Any]:
    numbers, enemies, terms, flags = _carve_info(block, num_envs)
    info: dict[str, Any] = dict(zip(_native.INFO_NUMBERS, numbers, strict=True))
    info.update(zip(_native.INFO_FLAGS, flags, strict=True))
    info.update(reward_terms=terms, enemies=enemies)
    return info


def empty_obs(space: spaces.Space[Any]) -> Obs:
    """Returns fresh arrays for the observations of a batched space."""
    if isinstance(space, spaces.Dict):
        return {name: np.zeros(box.shape or (), np.uint8) for name, box in space.spaces.items()}
    return np.zeros(space.shape or (), np.uint8)


def obs_parts(obs: Obs) -> tuple[Any, Any]:
    """Splits an observation into images or tiles, and features where there are some."""
    if obs is None:
        return None, None
    return (obs["tiles"], obs["features"]) if isinstance(obs, Mapping) else (obs, None)


def copied_obs(obs: Obs) -> Obs:
    """Returns a copy in arrays of its own."""
    if isinstance(obs, dict):
        return {name: array.copy() for name, array in obs.items()}
    return obs.copy()
