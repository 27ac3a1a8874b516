"""Sampling in proportion to weights: a sum tree, or a cumulative sum on the network's device."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from statistics import median
from typing import Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_log = logging.getLogger(__name__)

Indices = NDArray[np.int64]
Weights = NDArray[np.float64]
Kind = Literal["auto", "tree", "device"]

_TRIALS = 16


class SumTree(Protocol):
    """Weights that can be updated and sampled in logarithmic time."""

    @property
    def total(self) -> float:
        """Returns the sum of all weights."""

    @property
    def nbytes(self) -> int:
        """Allocated memory in bytes."""

    def set(self, indices: Indices, weights: Weights) -> None:
        """Sets the weights of indices."""

    def get(self, indices: Indices) -> Weights:
        """Returns the weights of indices."""

    def find(self, shares: Weights) -> Indices:
        """Returns the indices at these fractions of the cumulative sum."""

    def weights(self) -> Weights:
        """Returns all weights."""


class DeviceSampler:
    """Equivalent of a sum tree by cumulative sum and binary search, on any torch device."""

    def __init__(self, capacity: int, device: torch.device):
        """Creates a sampler with all weights 0."""
        # Apple GPUs have no float64; with float32, a fraction may map to a neighboring index.
        self._dtype = torch.float32 if device.type == "mps" else torch.float64
        self._weights = torch.zeros(capacity, dtype=self._dtype, device=device)

    def set(self, indices: Indices, weights: Weights) -> None:
        """Sets the weights of indices, which must be unique."""
        self._weights[self._here(indices)] = self._here(weights).to(self._dtype)

    def find(self, shares: Weights) -> Indices:
        """Returns the indices at these fractions, in [0, 1), of the sum; never one of weight 0."""
        sums = torch.cumsum(self._weights, 0)
        # Rounding must not push a fraction to the end, where entries may have weight 0.
        below = torch.nextafter(sums[-1], torch.zeros_like(sums[-1]))
        wanted = torch.minimum(self._here(shares).to(self._dtype) * sums[-1], below)
        found: Indices = torch.searchsorted(sums, wanted, right=True).cpu().numpy()
        return found

    def _here(self, array: Indices | Weights) -> Tensor:
        return torch.from_numpy(array).to(self._weights.device)


class ChosenSampler:
    """Samples with the tree, or with the device if that is faster.

    Both map the same fraction to the same index, so the choice does not change what a run learns
    (except where rounding moves a fraction across a boundary).
    """

    def __init__(
        self,
        tree: SumTree,
        capacity: int,
        device: torch.device | None = None,
        kind: Kind = "auto",
        clock: Callable[[], float] = time.perf_counter,
    ):
        """Creates the sampler.

        Args:
            tree: Empty sum tree.
            capacity: Number of indices.
            device: Device of the network; defaults to the CPU.
            kind: Sampler to use. With 'auto' and a device other than the CPU, both are timed on
                the first samples, and the faster one is used.
            clock: Clock; for tests.
        """
        self.tree = tree
        place = device or torch.device("cpu")
        wanted = kind == "device" or (kind == "auto" and place.type != "cpu")
        self._device = DeviceSampler(capacity, place) if wanted else None
        self._on_trial = kind == "auto" and wanted
        self._clock = clock
        self._times: tuple[list[float], list[float]] = ([], [])

    @property
    def uses_device(self) -> bool:
        """Whether the device draws the next sample."""
        return self._device is not None

    def set(self, indices: Indices, weights: Weights) -> None:
        """Sets the weights of indices."""
        self.tree.set(indices, weights)
        if self._device is not None:
            self._device.set(indices, weights)

    def find(self, shares: Weights) -> Indices:
        """Returns the indices at these fractions of the cumulative sum."""
        if self._device is None:
            return self.tree.find(shares)
        if not self._on_trial:
            return self._device.find(shares)
        began = self._clock()
        found = self.tree.find(shares)
        between = self._clock()
        self._device.find(shares)
        self._times[0].append(between - began)
        self._times[1].append(self._clock() - between)
        if len(self._times[0]) == _TRIALS:
            self._decide()
        return found

    def _decide(self) -> None:
        tree, device = (median(times) * 1e6 for times in self._times)
        self._on_trial = False
        if device > tree:
            self._device = None
        _log.info(
            "replay samples with the %s: %.0f us per batch; the other sampler takes %.0f us",
            "sum-tree" if self._device is None else "device",
            *(sorted((tree, device))),
        )
