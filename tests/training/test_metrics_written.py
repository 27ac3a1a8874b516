"""Every documented metric appears in some run; unknown metrics are rejected."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tiny import tiny

from warpzone.algorithms.base import CollectedRollout, Targets
from warpzone.algorithms.ppo import PPO
from warpzone.config import (
    AdaptiveOptions,
    DistillOptions,
    ReplayOptions,
    RescueOptions,
    ScriptOptions,
    StartOptions,
    TrainConfig,
)
from warpzone.registry import register_algorithm
from warpzone.telemetry.metrics import METRICS, find_metric
from warpzone.telemetry.reading import read_rows
from warpzone.training import session

SOLUTIONS = Path(__file__).parents[2] / "solutions"
POLICIES = Path(__file__).parents[2] / "policies"
# Of all teachers.
EVERY_ACTION = "NOOP,RIGHT,RIGHT+A,RIGHT+B,RIGHT+A+B,A,LEFT,DOWN,LEFT+A+B"
REPLAY = ReplayOptions(capacity=128, batch_size=16, learning_starts=8)


@register_algorithm("with-own-metric")
class WithOwnMetric(PPO):
    """Reports a metric that is not listed by its full name."""

    def targets(self, rollout: CollectedRollout) -> Targets:
        return replace(super().targets(rollout), metrics={"custom/mine": 1.0})


def kinds(folder: Path) -> Iterator[TrainConfig]:
    """Returns small runs that together produce every metric."""
    plain = tiny(folder, updates=3)
    plain = replace(plain, env=replace(plain.env, max_steps=5))
    yield replace(plain, replay=REPLAY)
    yield replace(plain, learn=replace(plain.learn, algo="vtrace"))
    yield replace(plain, learn=replace(plain.learn, algo="with-own-metric"))
    yield replace(plain, run=replace(plain.run, overlap=True))
    yield replace(
        plain,
        adaptive=AdaptiveOptions(enabled=True),
        rescue=RescueOptions(after=1),
        script=ScriptOptions(forward_frames=8),
    )
    yield replace(
        plain,
        env=replace(plain.env, level="1-1,1-2", level_order="curriculum"),
        starts=StartOptions(solutions=str(SOLUTIONS), share=0.5),
        replay=REPLAY,
    )


def taught(folder: Path) -> TrainConfig:
    """A small run that learns from the committed policies of two levels."""
    config = tiny(folder, updates=3)
    return replace(
        config,
        env=replace(config.env, level="1-1,8-4", actions=EVERY_ACTION),
        model=replace(config.model, encoder="tiles-v2"),
        distill=DistillOptions(str(POLICIES), capacity=64, batches=1, batch_size=16),
    )


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fake NVML of a machine with GPUs."""
    library = types.SimpleNamespace(
        NVMLError=RuntimeError,
        NVML_TEMPERATURE_GPU=0,
        nvmlInit=lambda: None,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetCount=lambda: 2,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetUtilizationRates=lambda _: types.SimpleNamespace(gpu=50),
        nvmlDeviceGetMemoryInfo=lambda _: types.SimpleNamespace(used=1000),
        nvmlDeviceGetPowerUsage=lambda _: 100_000,
        nvmlDeviceGetTemperature=lambda *_: 60,
    )
    monkeypatch.setitem(sys.modules, "pynvml", library)


def test_every_documented_metric_appears_in_some_run_and_no_other(
    tmp_path: Path, rom_path: Path, two_gpus: None
) -> None:
    written: set[str] = set()
    for number, config in enumerate([*kinds(tmp_path), taught(tmp_path)]):
        run, _ = session.start(replace(config, run=replace(config.run, name=f"r{number}")), "quiet")
        written |= {name for row in read_rows(run.metrics) for name in row}
    found = {name: find_metric(name) for name in written}
    assert [name for name, metric in found.items() if metric is None] == []
    missing = METRICS.keys() - {metric.name for metric in found.values() if metric is not None}
    # Only a cluster has actors; tests/cluster runs one.
    assert [name for name in sorted(missing) if not name.startswith(("actor/", "cluster/"))] == []
