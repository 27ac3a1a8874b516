"""Sampling in proportion to weights: a sum-tree, or a cumulative sum on the network's device."""

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
    """Weights that can be changed and sampled in logarithmic time."""

    @property
    def total(self) -> float:
        """Sum of all weights."""

    @property
    def nbytes(self) -> int:
        """Memory that is allocated."""

    def set(self, indices: Indices, weights: Weights) -> None:
        """Gives indices new weights."""

    def get(self, indices: Indices) -> Weights:
        """Weights of indices."""

    def find(self, shares: Weights) -> Indices:
        """The indices at these shares of the sum."""

    def weights(self) -> Weights:
        """All weights."""


class DeviceSampler:
    """The same as a tree by a cumulative sum and a binary search, on any torch device."""

    def __init__(self, capacity: int, device: torch.device):
        """Begins with every weight at 0."""
        # Apple's GPUs have no doubles; with floats a share may lead to a neighbour.
        self._dtype = torch.float32 if device.type == "mps" else torch.float64
        self._weights = torch.zeros(capacity, dtype=self._dtype, device=device)

    def set(self, indices: Indices, weights: Weights) -> None:
        """Gives indices new weights; no index appears twice."""
        self._weights[self._here(indices)] = self._here(weights).to(self._dtype)

    def find(self, shares: Weights) -> Indices:
        """The indices at these shares (from 0 to below 1) of the sum; none without weight."""
        sums = torch.cumsum(self._weights, 0)
        # Rounding must not carry a share to the end: the entries behind it may have no weight.
        below = torch.nextafter(sums[-1], torch.zeros_like(sums[-1]))
        wanted = torch.minimum(self._here(shares).to(self._dtype) * sums[-1], below)
        found: Indices = torch.searchsorted(sums, wanted, right=True).cpu().numpy()
        return found

    def _here(self, array: Indices | Weights) -> Tensor:
        return torch.from_numpy(array).to(self._weights.device)


class ChosenSampler:
    """The tree, or the device where that is faster.

    Both turn the same share into the same index, so the choice does not change what a run learns
    (except where rounding moves a share across a border).
    """

    def __init__(
        self,
        tree: SumTree,
        capacity: int,
        device: torch.device | None = None,
        kind: Kind = "auto",
        clock: Callable[[], float] = time.perf_counter,
    ):
        """Chooses.

        Args:
            tree: An empty sum-tree.
            capacity: Indices are below it.
            device: The network's; the CPU by default.
            kind: auto: unless the device is the CPU, it is tried beside the tree for some samples,
                and used if it is faster.
            clock: For tests.
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
        """Whether the device makes the next sample."""
        return self._device is not None

    def set(self, indices: Indices, weights: Weights) -> None:
        """Gives indices new weights."""
        self.tree.set(indices, weights)
        if self._device is not None:
            self._device.set(indices, weights)

    def find(self, shares: Weights) -> Indices:
        """The indices at these shares of the sum."""
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
            "replay samples by the %s: %.0f us, the other sampler takes %.0f us",
            "sum-tree" if self._device is None else "device",
            *(sorted((tree, device))),
        )
