"""Estimate of a run's time and memory, from a short trial of the real trainer."""

from __future__ import annotations

import time
from dataclasses import dataclass

import psutil
import torch

from warpzone.config import TrainConfig
from warpzone.telemetry.terminal import duration
from warpzone.training.environments import make_env
from warpzone.training.pace import Pace
from warpzone.training.trainer import Trainer

TRIAL_SECONDS = 5.0
_MIB = 2**20


@dataclass(frozen=True)
class Estimate:
    """Results of a trial; memory is in bytes.

    Attributes:
        place: Device, precision and threads.
        updates: Number of updates in the run.
        update_steps: Environment steps per update.
        tried: Number of updates in the trial.
        steps_per_second: Throughput measured during the trial.
        seconds: Estimated duration of the whole run.
        storage: Memory of the rollout storage; with overlap, of both storages.
        replay: Memory of a full replay buffer.
        network: Memory of weights, gradients and optimizer.
        environments: Memory measured for the environments.
        resident: Resident memory of the process after the trial.
    """

    place: str
    updates: int
    update_steps: int
    tried: int
    steps_per_second: float
    seconds: float
    storage: int
    replay: int
    network: int
    environments: int
    resident: int

    def __str__(self) -> str:
        """Returns the estimate as TOML comments."""
        return (
            f"# {self.place}\n"
            f"# {self.updates:,} updates of {self.update_steps:,} steps; "
            f"{self.steps_per_second:,.0f} steps/s in a trial of {self.tried} updates: "
            f"about {duration(self.seconds)} in total\n"
            f"# memory: {self.storage / _MIB:,.0f} MiB rollout, "
            f"{self.replay / _MIB:,.0f} MiB replay, {self.network / _MIB:,.0f} MiB "
            f"network and optimizer, {self.environments / _MIB:,.0f} MiB environments; "
            f"{self.resident / _MIB:,.0f} MiB in total"
        )


def estimate(config: TrainConfig) -> Estimate:
    """Trains for at least two updates and a few seconds, and writes nothing."""
    environments = _memory_of_environments(config)
    trainer = Trainer(config)
    try:
        trainer.begin()
        pace = Pace(0)
        began = time.monotonic()
        while pace.updates < 2 or time.monotonic() - began < TRIAL_SECONDS:
            trainer.update()
            pace.tick(trainer.steps)
        batch = config.env.num_envs * config.learn.rollout_steps
        speed = pace.steps_per_second or 0.0
        updates = -(-config.run.steps // batch)
        return Estimate(
            place=trainer.place,
            updates=updates,
            update_steps=batch,
            tried=pace.updates,
            steps_per_second=speed,
            seconds=pace.seconds_for(updates * batch) or 0.0,
            storage=trainer.storage.nbytes * (2 if config.run.overlap else 1),
            replay=0 if trainer.replay is None else trainer.replay.nbytes,
            network=_memory_of_network(trainer),
            environments=environments,
            resident=psutil.Process().memory_info().rss,
        )
    finally:
        trainer.close()


def _memory_of_environments(config: TrainConfig) -> int:
    process = psutil.Process()
    before = process.memory_info().rss
    env = make_env(config)
    try:
        env.reset(seed=config.run.seed)
        return max(0, process.memory_info().rss - before)
    finally:
        env.close()


def _memory_of_network(trainer: Trainer) -> int:
    weights = sum(p.numel() * p.element_size() for p in trainer.model.parameters())
    moments = sum(
        value.numel() * value.element_size()
        for state in trainer.optimizer.state.values()
        for value in state.values()
        if isinstance(value, torch.Tensor)
    )
    return 2 * weights + moments  # gradients are as large as the weights
