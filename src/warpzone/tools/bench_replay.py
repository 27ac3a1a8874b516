"""How fast transitions are drawn, against NumPy's way of drawing with probabilities."""

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
    """One way of drawing.

    Attributes:
        way: Its name.
        microseconds: Median of a draw.
        ratio: How many times as fast as NumPy's `random.choice` with probabilities.
    """

    way: str
    microseconds: float
    ratio: float


def measure_draws(
    capacity: int, batch: int, seconds: float, device: torch.device | None = None, seed: int = 0
) -> list[ReplayRow]:
    """Draws `batch` of `capacity` weights in every way, for a while each, in turns.

    Args:
        capacity: Weights to draw from.
        batch: Draws at once.
        seconds: For each way.
        device: Where the device's way draws; the CPU by default.
        seed: Of the weights.
    """
    random = np.random.default_rng(seed)
    weights = random.pareto(2.0, capacity) + 1e-3
    probabilities = weights / weights.sum()
    place = device or torch.device("cpu")
    tree, other = ChosenSampler(capacity, place, "tree"), DeviceSampler(capacity, place)
    for sampler in (tree, other):
        sampler.set(np.arange(capacity), weights)
    ways: dict[str, Callable[[], object]] = {
        _REFERENCE: lambda: random.choice(capacity, batch, p=probabilities),
        "sum-tree": lambda: tree.find(random.random(batch)),
        f"torch on {place.type}": lambda: other.find(random.random(batch)),
    }
    times = _in_turns(ways, seconds)
    return [ReplayRow(way, times[way] * 1e6, times[_REFERENCE] / times[way]) for way in times]


def _in_turns(ways: dict[str, Callable[[], object]], seconds: float) -> dict[str, float]:
    """Median seconds of each; in turns, so that a busy machine slows all of them alike."""
    times: dict[str, list[float]] = {way: [] for way in ways}
    end = time.perf_counter() + seconds * len(ways)
    while time.perf_counter() < end or len(times[_REFERENCE]) < _FEWEST:
        for way, draw in ways.items():
            began = time.perf_counter()
            draw()
            times[way].append(time.perf_counter() - began)
    return {way: median(taken) for way, taken in times.items()}


def write_csv(path: Path, rows: list[ReplayRow]) -> None:
    """Writes the figures, a line each."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(ReplayRow)])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
