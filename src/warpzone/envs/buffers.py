"""Arrays that are handed to the user and used again once nobody refers to them any more.

Making arrays anew at every step would cost more than writing them. A buffer counts the references
to its arrays: when there are no more than at its making, the user has let go of them. Views and
tensors made from an array count too, since they refer to it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from warpzone import _native

#: More buffers than this are not kept: then the user collects results.
_KEPT = 4

Obs = Any  # An array, or a dict of arrays for tiles.


class Shared:
    """Arrays of which it can be told whether a user holds some."""

    def __init__(self, arrays: Sequence[Any]) -> None:
        """Watches the arrays, once `settle` has been called."""
        self._arrays = tuple(arrays)
        self._alone: list[int] = []

    def _references(self) -> list[int]:
        return list(map(sys.getrefcount, self._arrays))

    def settle(self) -> None:
        """Tells that no user holds an array now, and that whoever made them has let go of them."""
        # What counts as nobody's differs between Python versions, so it is measured.
        self._alone = self._references()

    def is_free(self) -> bool:
        """Whether no user holds an array."""
        return self._references() == self._alone


class ObsBuffer:
    """One batch of observations, with the native batch that writes into it."""

    def __init__(self, obs: Obs, batch: _native.Batch) -> None:
        """Takes fresh arrays and the batch that was made for them."""
        self._obs = obs
        self.batch = batch
        self.shared = Shared(list(obs.values()) if isinstance(obs, dict) else [obs])

    def hand_out(self) -> Obs:
        """The arrays; a dict of them is made anew, so that changing it changes nothing here."""
        return dict(self._obs) if isinstance(self._obs, dict) else self._obs


class InfoArrays:
    """All that is told besides observations and rewards, as the native side writes it."""

    def __init__(self, lanes: int) -> None:
        """Makes room for so many lanes."""
        self.numbers = np.zeros((len(_native.INFO_NUMBERS), lanes), np.int32)
        self.flags = np.zeros((len(_native.INFO_FLAGS), lanes), np.bool_)
        self.terms = np.zeros((lanes, len(_native.REWARD_TERMS)), np.float32)
        self.enemies = np.zeros((lanes, *_native.ENEMY_SHAPE), np.int32)

    def all(self) -> tuple[NDArray[Any], ...]:
        """The four arrays."""
        return self.numbers, self.flags, self.terms, self.enemies


class InfoBuffer:
    """A copy of `InfoArrays` as a dict with an array a name."""

    def __init__(self, lanes: int) -> None:
        """Makes room for so many lanes."""
        self._arrays = InfoArrays(lanes).all()
        numbers, flags, terms, enemies = self._arrays
        self._named: dict[str, NDArray[Any]] = {
            **dict(zip(_native.INFO_NUMBERS, numbers, strict=True)),
            **dict(zip(_native.INFO_FLAGS, flags, strict=True)),
            "reward_terms": terms,
            "enemies": enemies,
        }
        # A view of a row refers to the whole array, so both are watched.
        self.shared = Shared([*self._named.values(), *self._arrays])

    def hand_out(self, source: InfoArrays) -> dict[str, Any]:
        """A dict of the values that `source` holds now."""
        for target, array in zip(self._arrays, source.all(), strict=True):
            target[...] = array
        return dict(self._named)


_Buffer = TypeVar("_Buffer", ObsBuffer, InfoBuffer)


def free_one(buffers: list[_Buffer], make: Callable[[], _Buffer]) -> _Buffer:
    """A buffer that nobody holds, made anew if there is none."""
    for buffer in buffers:
        if buffer.shared.is_free():
            return buffer
    buffer = make()
    buffer.shared.settle()
    if len(buffers) < _KEPT:
        buffers.append(buffer)
    return buffer


def empty_obs(space: spaces.Space[Any]) -> Obs:
    """Fresh arrays for the observations of a batched space."""
    if isinstance(space, spaces.Dict):
        return {name: np.zeros(box.shape or (), np.uint8) for name, box in space.spaces.items()}
    return np.zeros(space.shape or (), np.uint8)


def obs_parts(obs: Obs) -> tuple[Any, Any]:
    """Pictures or tiles, and features where there are some."""
    if obs is None:
        return None, None
    return (obs["tiles"], obs["features"]) if isinstance(obs, Mapping) else (obs, None)


def copied_obs(obs: Obs) -> Obs:
    """A copy in arrays of its own."""
    if isinstance(obs, dict):
        return {name: array.copy() for name, array in obs.items()}
    return obs.copy()
