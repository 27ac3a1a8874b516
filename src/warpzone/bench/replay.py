"""How fast transitions are drawn, against NumPy's method of drawing with probabilities."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import median

import numpy as np
import torch

from warpzone.replay.samplers import ChosenSampler, DeviceSampler

_REFERENCE = "numpy random.choice"
_FEWEST = 5


@dataclass(frozen=True)
class ReplayRow:
    """One method of drawing.

    Attributes:
        method: Its name.
        microseconds: Median of a draw.
        ratio: How many times as fast as NumPy's `random.choice` with probabilities.
    """

    method: str
    microseconds: float
    ratio: float


def measure_draws(
    capacity: int, batch: int, seconds: float, device: torch.device | None = None, seed: int = 0
) -> list[ReplayRow]:
    """Draws `batch` of `capacity` weights in every method, for a while each, in turns.

    Args:
        capacity: Weights to draw from.
        batch: Draws at once.
        seconds: For each method.
        device: Where the device's method draws; the CPU by default.
        seed: Of the weights.
    """
    random = np.random.default_rng(seed)
    weights = random.pareto(2.0, capacity) + 1e-3
    probabilities = weights / weights.sum()
    place = device or torch.device("cpu")
    tree, other = ChosenSampler(capacity, place, "tree"), DeviceSampler(capacity, place)
    for sampler in (tree, other):
        sampler.set(np.arange(capacity), weights)
    methods: dict[str, Callable[[], object]] = {
        _REFERENCE: lambda: random.choice(capacity, batch, p=probabilities),
        "sum-tree": lambda: tree.find(random.random(batch)),
        f"torch on {place.type}": lambda: other.find(random.random(batch)),
    }
    times = _in_turns(methods, seconds)
    return [
        ReplayRow(method, times[method] * 1e6, times[_REFERENCE] / times[method])
        for method in times
    ]


def _in_turns(methods: dict[str, Callable[[], object]], seconds: float) -> dict[str, float]:
    """Median seconds of each; in turns, so that a busy machine slows all of them alike."""
    times: dict[str, list[float]] = {method: [] for method in methods}
    end = time.perf_counter() + seconds * len(methods)
    while time.perf_counter() < end or len(times[_REFERENCE]) < _FEWEST:
        for method, draw in methods.items():
            began = time.perf_counter()
            draw()
            times[method].append(time.perf_counter() - began)
    return {method: median(taken) for method, taken in times.items()}


def write_csv(path: Path, rows: list[ReplayRow]) -> None:
    """Writes the figures, a line each."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(ReplayRow)])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
