"""Measuring the speed of prioritized sampling, compared with NumPy's `random.choice`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import numpy as np
import torch

from warpzone._native import SumTree
from warpzone.replay.samplers import ChosenSampler, DeviceSampler

_REFERENCE = "numpy random.choice"
_MIN_REPEATS = 5


@dataclass(frozen=True)
class ReplayRow:
    """Measurements of one sampling method.

    Attributes:
        method: Name of the method.
        microseconds: Median time to sample a batch.
        ratio: Speed relative to NumPy's `random.choice` with probabilities.
    """

    method: str
    microseconds: float
    ratio: float


def measure_sampling(
    capacity: int, batch: int, seconds: float, device: torch.device | None = None, seed: int = 0
) -> list[ReplayRow]:
    """Measures each method of sampling `batch` out of `capacity` weighted items.

    Args:
        capacity: Number of items.
        batch: Samples per batch.
        seconds: Measuring time per method.
        device: Device of the PyTorch method; the CPU by default.
        seed: Random seed of the weights.
    """
    random = np.random.default_rng(seed)
    weights = random.pareto(2.0, capacity) + 1e-3
    probabilities = weights / weights.sum()
    device = device or torch.device("cpu")
    tree = ChosenSampler(SumTree(capacity), capacity, device, "tree")
    on_device = DeviceSampler(capacity, device)
    for sampler in (tree, on_device):
        sampler.set(np.arange(capacity), weights)
    methods: dict[str, Callable[[], object]] = {
        _REFERENCE: lambda: random.choice(capacity, batch, p=probabilities),
        "sum-tree": lambda: tree.find(random.random(batch)),
        f"torch on {device.type}": lambda: on_device.find(random.random(batch)),
    }
    times = _median_seconds(methods, seconds)
    return [
        ReplayRow(method, times[method] * 1e6, times[_REFERENCE] / times[method])
        for method in times
    ]


def _median_seconds(methods: dict[str, Callable[[], object]], seconds: float) -> dict[str, float]:
    """Measures the methods in turns, so that a busy machine slows all of them equally."""
    times: dict[str, list[float]] = {method: [] for method in methods}
    end = time.perf_counter() + seconds * len(methods)
    while time.perf_counter() < end or len(times[_REFERENCE]) < _MIN_REPEATS:
        for method, sample in methods.items():
            began = time.perf_counter()
            sample()
            times[method].append(time.perf_counter() - began)
    return {method: median(taken) for method, taken in times.items()}
