"""Measuring the gain from overlapped collection: the same training with and without it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from warpzone.config import EnvOptions, LearnOptions, ModelOptions, RunOptions, TrainConfig
from warpzone.training.trainer import Trainer

_MIN_HIDDEN, _MAX_HIDDEN = 16, 4096
_TOLERANCE = 1.1  # Learning and collecting count as balanced within this factor.
_MAX_MEASUREMENTS = 8


@dataclass(frozen=True)
class OverlapRow:
    """Measurements of one training run.

    Attributes:
        mode: 'serial' or 'overlapped'.
        num_envs: Number of environments.
        rollout: Steps per environment and update.
        steps_per_second: Environment steps per second of wall time.
        updates_per_second: Updates per second of wall time.
        learner_idle: Fraction of the time that the learner waited.
        collector_idle: Fraction of the time that the collector waited.
        hidden: Width of the network.
        epochs: Epochs per update.
        learn_seconds: Learning time per update.
        collect_seconds: Collection time per update.
    """

    mode: str
    num_envs: int
    rollout: int
    steps_per_second: float
    updates_per_second: float
    learner_idle: float
    collector_idle: float
    hidden: int
    epochs: int
    learn_seconds: float
    collect_seconds: float


def overlap_config(num_envs: int, rollout: int, obs: str, level: str) -> TrainConfig:
    """Returns a configuration with one environment thread and one PyTorch thread."""
    return TrainConfig(
        env=EnvOptions(level=level, obs=obs, num_envs=num_envs, num_threads=1),  # type: ignore[arg-type]
        model=ModelOptions(hidden=256),
        learn=LearnOptions(rollout_steps=rollout, minibatch_size=min(1024, num_envs * rollout)),
        run=RunOptions(steps=10**12, torch_threads=1, device="cpu"),
    )


def balanced(
    config: TrainConfig, ratio_of: Callable[[TrainConfig], float] | None = None
) -> TrainConfig:
    """Finds a network width for which learning takes as long as collecting.

    Args:
        config: Base configuration. Its epochs are reduced if even the smallest network is too slow.
        ratio_of: Returns the ratio of learning to collection time of a configuration; measured by
            default.
    """
    measure = ratio_of or _ratio
    for epochs in (config.learn.epochs, 2, 1):
        config = replace(config, learn=replace(config.learn, epochs=epochs))
        if measure(_with_hidden(config, _MIN_HIDDEN)) < 1.0:
            break
    low, high = _MIN_HIDDEN, _MAX_HIDDEN
    for _ in range(_MAX_MEASUREMENTS):
        hidden = round((low * high) ** 0.5)
        ratio = measure(_with_hidden(config, hidden))
        if 1 / _TOLERANCE <= ratio <= _TOLERANCE or high - low <= 1:
            break
        low, high = (hidden, high) if ratio < 1.0 else (low, hidden)
    return _with_hidden(config, hidden)


def _with_hidden(config: TrainConfig, hidden: int) -> TrainConfig:
    return replace(config, model=replace(config.model, hidden=hidden))


def _ratio(config: TrainConfig) -> float:
    row = measure_overlap(config, overlapped=False, seconds=0.5)
    return row.learn_seconds / row.collect_seconds


def measure_overlap(config: TrainConfig, overlapped: bool, seconds: float) -> OverlapRow:
    """Trains for `seconds` and returns the averages; the first two updates are not counted."""
    trainer = Trainer(replace(config, run=replace(config.run, overlap=overlapped)))
    sums = {"learn": 0.0, "rollout": 0.0, "learner_idle": 0.0, "collector_idle": 0.0}
    try:
        trainer.begin()
        for _ in range(2):
            trainer.update()
        updates, began = 0, time.perf_counter()
        while time.perf_counter() - began < seconds or updates < 2:
            row = trainer.update()
            for name in sums:
                sums[name] += float(row[f"speed/{name}_seconds"])
            updates += 1
        wall = time.perf_counter() - began
    finally:
        trainer.close()
    return OverlapRow(
        mode="overlapped" if overlapped else "serial",
        num_envs=config.env.num_envs,
        rollout=config.learn.rollout_steps,
        steps_per_second=updates * config.env.num_envs * config.learn.rollout_steps / wall,
        updates_per_second=updates / wall,
        learner_idle=sums["learner_idle"] / wall,
        collector_idle=min(1.0, sums["collector_idle"] / wall),
        hidden=config.model.hidden,
        epochs=config.learn.epochs,
        learn_seconds=sums["learn"] / updates,
        collect_seconds=sums["rollout"] / updates,
    )
