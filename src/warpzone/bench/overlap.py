"""What overlapped collection gains: the same training with and without it."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from warpzone.config.options import EnvOptions, LearnOptions, ModelOptions, RunOptions, TrainConfig
from warpzone.train.trainer import Trainer

_SMALLEST, _LARGEST = 16, 4096
_CLOSE = 1.1  # Learning and collecting count as equal within this factor.
_LOOKS = 8


@dataclass(frozen=True)
class OverlapRow:
    """One run.

    Attributes:
        mode: 'serial' or 'overlapped'.
        num_envs: Games.
        rollout: Steps of each between updates.
        steps_per_second: Environment steps by wall time.
        updates_per_second: Updates by wall time.
        learner_idle: Share of the time in which the learner waited.
        collector_idle: Share of the time in which nothing was collected.
        hidden: Width of the network.
        epochs: Passes over a rollout.
        learn_seconds: Learning, per update.
        collect_seconds: Collecting, per update.
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
    """Training with one thread for the games and one for the network's arithmetic."""
    return TrainConfig(
        env=EnvOptions(level=level, obs=obs, num_envs=num_envs, num_threads=1),  # type: ignore[arg-type]
        model=ModelOptions(hidden=256),
        learn=LearnOptions(rollout_steps=rollout, minibatch_size=min(1024, num_envs * rollout)),
        run=RunOptions(steps=10**12, torch_threads=1, device="cpu"),
    )


def balanced(
    config: TrainConfig, ratio_of: Callable[[TrainConfig], float] | None = None
) -> TrainConfig:
    """Finds a network whose learning takes as long as collecting.

    Args:
        config: What is given besides its width and, where even a tiny one is too slow, its epochs.
        ratio_of: Learning time by collecting time of a configuration; measured by default.
    """
    measure = ratio_of or _ratio
    for epochs in (config.learn.epochs, 2, 1):
        config = replace(config, learn=replace(config.learn, epochs=epochs))
        if measure(_with_hidden(config, _SMALLEST)) < 1.0:
            break
    low, high = _SMALLEST, _LARGEST
    for _ in range(_LOOKS):
        hidden = round((low * high) ** 0.5)
        ratio = measure(_with_hidden(config, hidden))
        if 1 / _CLOSE <= ratio <= _CLOSE or high - low <= 1:
            break
        low, high = (hidden, high) if ratio < 1.0 else (low, hidden)
    return _with_hidden(config, hidden)


def _with_hidden(config: TrainConfig, hidden: int) -> TrainConfig:
    return replace(config, model=replace(config.model, hidden=hidden))


def _ratio(config: TrainConfig) -> float:
    row = measure_overlap(config, overlapped=False, seconds=0.5)
    return row.learn_seconds / row.collect_seconds


def measure_overlap(config: TrainConfig, overlapped: bool, seconds: float) -> OverlapRow:
    """Trains for a while, the first updates not counted."""
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


def write_csv(path: Path, rows: list[OverlapRow]) -> None:
    """Writes the figures, a line each."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(OverlapRow)])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
