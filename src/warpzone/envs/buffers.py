"""Arrays of a vector environment: observations leased to the user, infos copied in one piece.

Allocating observations anew at every step would cost more than writing them, so their memory is
reused. Ownership is explicit: `ObsBuffers.lease` returns one array made for this lease, or views of
it. Further views and tensors of them refer to that array too, so it is finalized exactly when
nothing refers to the observation any more, and its finalizer returns the memory. No reference is
counted, and any thread may drop the last one.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
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
#: Shapes of the arrays of an observation; the name of a single array is None.
ObsShapes = Mapping[str | None, tuple[int, ...]]


def obs_shapes(single_space: spaces.Space[Any], count: int) -> ObsShapes:
    """Returns the shapes of a batch of observations.

    A batched space would say the same, but it holds several arrays of the size of the batch.
    """
    boxes = single_space.spaces if isinstance(single_space, spaces.Dict) else {None: single_space}
    return {name: (count, *(box.shape or ())) for name, box in boxes.items()}


class ObsBuffer:
    """Memory for one batch of observations, with the native batch that writes into it."""

    def __init__(self, shapes: ObsShapes, make_batch: Callable[[Obs], _native.Batch]) -> None:
        """Allocates the memory.

        Args:
            shapes: Those of the observations.
            make_batch: Returns the native batch that writes into such arrays.
        """
        self._parts: list[tuple[str | None, tuple[int, ...], int]] = []
        size = 0
        for name, shape in shapes.items():
            self._parts.append((name, shape, size))
            size += int(np.prod(shape))
        self._single_shape = shapes.get(None)
        # Not an array: NumPy makes the innermost array of a chain of views the base of each view,
        # and that must be the array of the lease.
        self._memory = bytearray(size)
        self.batch = make_batch(self._carve(self._memory))
        self.on_release: Callable[[ObsBuffer], None] | None = None
        self._watch: weakref.ref[Any] | None = None
        self._dropped = self._release  # Bound once: a lease is made at every step.

    def lease(self) -> Obs:
        """Returns the arrays; `on_release` is called when nothing refers to them any more."""
        single = self._single_shape
        whole = np.ndarray(single or len(self._memory), _BYTE, self._memory)
        if self.on_release is not None:
            self._watch = weakref.ref(whole, self._dropped)
        return whole if single else self._carve(whole)

    def _release(self, _: object) -> None:
        if self.on_release is not None:
            self.on_release(self)

    def _carve(self, whole: Any) -> Obs:
        arrays = {
            name: np.ndarray(shape, _BYTE, whole, begin) for name, shape, begin in self._parts
        }
        return arrays.get(None, arrays)


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
    """What an info is made of, as the native side writes it: four tables in one block of memory.

    Attributes:
        numbers: int32, one row per field.
        enemies: int32, one row per environment.
        terms: float32, the sums of the reward terms, one row per environment.
        flags: bool, one row per field.
    """

    def __init__(self, num_envs: int) -> None:
        """Allocates the block for some environments."""
        # The table of single bytes comes last, which keeps the others aligned.
        shapes: tuple[tuple[tuple[int, ...], type[Any]], ...] = (
            ((len(_native.INFO_NUMBERS), num_envs), np.int32),
            ((num_envs, *_native.ENEMY_SHAPE), np.int32),
            ((num_envs, len(_native.REWARD_TERMS)), np.float32),
            ((len(_native.INFO_FLAGS), num_envs), np.bool_),
        )
        self._places: list[_Place] = []
        size = 0
        for shape, kind in shapes:
            self._places.append((shape, np.dtype(kind), size))
            size += int(np.prod(shape)) * np.dtype(kind).itemsize
        self._block = np.zeros(size, _BYTE)
        self.numbers, self.enemies, self.terms, self.flags = (
            np.ndarray(shape, dtype, self._block, begin) for shape, dtype, begin in self._places
        )

    def all(
        self,
    ) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.float32], NDArray[np.int32]]:
        """Returns numbers, flags (as bytes), terms and enemies, as the native side takes them."""
        return self.numbers, self.flags.view(_BYTE), self.terms, self.enemies

    def clear(self) -> None:
        """Sets every value to 0."""
        self._block.fill(0)

    def info(self, **more: Any) -> dict[str, Any]:
        """Returns the present values as a dict with one array per field, built when first read.

        Args:
            more: Further fields, none of which is None.
        """
        names = {**_INFO_NAMES, **more} if more else _INFO_NAMES
        return LazyInfo(names, _InfoBlock(self._places, self._block.copy()))


#: Shape, type and first byte of a table.
_Place = tuple[tuple[int, ...], np.dtype[Any], int]
_NUMBERS, _ENEMIES, _TERMS, _FLAGS = range(4)
#: Table and row of each field; None for a whole table.
_FIELDS: dict[str, tuple[int, int | None]] = {
    **{name: (_NUMBERS, row) for row, name in enumerate(_native.INFO_NUMBERS)},
    **{name: (_FLAGS, row) for row, name in enumerate(_native.INFO_FLAGS)},
    "reward_terms": (_TERMS, None),
    "enemies": (_ENEMIES, None),
}
_INFO_NAMES: dict[str, Any] = dict.fromkeys(_FIELDS)


class _InfoBlock:
    """The values of one moment, from which a `LazyInfo` is built."""

    __slots__ = ("_block", "_places", "_tables")

    def __init__(self, places: Sequence[_Place], block: NDArray[np.uint8]) -> None:
        self._places, self._block = places, block
        self._tables: dict[int, NDArray[Any]] = {}

    def one(self, name: str) -> NDArray[Any]:
        """Returns one field."""
        index, row = _FIELDS[name]
        table = self._tables.get(index)
        if table is None:
            shape, dtype, begin = self._places[index]
            table = self._tables[index] = np.ndarray(shape, dtype, self._block, begin)
        return table if row is None else table[row]

    def all(self) -> dict[str, NDArray[Any]]:
        """Returns every field."""
        return {name: self.one(name) for name in _FIELDS}


def empty_obs(shapes: ObsShapes) -> Obs:
    """Returns fresh arrays for observations."""
    arrays = {name: np.zeros(shape, np.uint8) for name, shape in shapes.items()}
    return arrays.get(None, arrays)


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
