"""Both samplers follow the weights, and the slower one is dropped."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from warpzone._native import SumTree
from warpzone.replay.samplers import ChosenSampler, DeviceSampler

CPU = torch.device("cpu")
ITEMS, DRAWS = 500, 1_000_000


def make(kind: str, capacity: int) -> ChosenSampler | DeviceSampler:
    if kind == "tree":
        return ChosenSampler(SumTree(capacity), capacity, CPU, "tree")
    return DeviceSampler(capacity, CPU)


def divergence(counts: np.ndarray, probabilities: np.ndarray) -> float:
    """KL divergence between the exact probabilities and the observed frequencies."""
    shares = counts / counts.sum()
    seen = shares > 0
    return float((shares[seen] * np.log(shares[seen] / probabilities[seen])).sum())


@pytest.mark.parametrize("kind", ["tree", "device"])
def test_a_million_draws_follow_the_weights(kind: str) -> None:
    random = np.random.default_rng(3)
    weights = random.pareto(1.5, ITEMS) + 0.01
    weights[::7] = 0.0
    sampler = make(kind, ITEMS)
    sampler.set(np.arange(ITEMS), weights)
    counts = np.zeros(ITEMS)
    for _ in range(DRAWS // 10_000):
        counts += np.bincount(sampler.find(random.random(10_000)), minlength=ITEMS)
    assert counts[::7].sum() == 0
    assert divergence(counts, weights / weights.sum()) < 1e-3
    # The same measure must tell unrelated weights apart.
    assert divergence(counts, np.full(ITEMS, 1 / ITEMS)) > 0.1


def test_both_samplers_map_the_same_fraction_to_the_same_index() -> None:
    random = np.random.default_rng(4)
    tree, device = make("tree", 1000), make("device", 1000)
    for _ in range(20):
        indices = random.permutation(1000)[:300]
        weights = random.random(300) * (random.random(300) > 0.3)
        tree.set(indices, weights)
        device.set(indices, weights)
        shares = random.random(256)
        assert (tree.find(shares) == device.find(shares)).all()


@pytest.mark.parametrize("kind", ["tree", "device"])
def test_the_end_of_the_sum_never_maps_to_an_index_of_weight_zero(kind: str) -> None:
    sampler = make(kind, 10)
    sampler.set(np.arange(4), np.array([0.1, 0.2, 0.3, 0.1]))
    assert sampler.find(np.array([0.0, np.nextafter(1.0, 0.0)])).tolist() == [0, 3]


class Clock:
    """A clock on which the tree takes `tree` seconds and the device `device`."""

    def __init__(self, tree: float, device: float) -> None:
        self._times = self._ticks(tree, device)

    def _ticks(self, tree: float, device: float) -> Iterator[float]:
        now = 0.0
        while True:
            yield now
            now += tree
            yield now
            now += device
            yield now

    def __call__(self) -> float:
        return next(self._times)


@pytest.mark.parametrize(("tree", "device", "stays"), [(1e-5, 5e-5, False), (5e-5, 1e-5, True)])
def test_the_slower_sampler_is_dropped_after_a_trial_and_logged_once(
    caplog: pytest.LogCaptureFixture, tree: float, device: float, stays: bool
) -> None:
    sampler = ChosenSampler(SumTree(100), 100, torch.device("meta"), "tree", Clock(tree, device))
    sampler._device, sampler._on_trial = DeviceSampler(100, CPU), True
    sampler.set(np.arange(100), np.ones(100))
    with caplog.at_level(logging.INFO, "warpzone.replay"):
        for _ in range(50):
            assert sampler.find(np.array([0.505])).tolist() == [50]
    assert sampler.uses_device == stays
    assert len(caplog.records) == 1
    winner = "device" if stays else "sum-tree"
    assert caplog.messages[0] == (
        f"replay samples with the {winner}: 10 us per batch; the other sampler takes 50 us"
    )


def test_on_a_cpu_the_device_sampler_is_not_tried() -> None:
    assert not ChosenSampler(SumTree(10), 10, CPU, "auto").uses_device
    assert ChosenSampler(SumTree(10), 10, CPU, "device").uses_device
