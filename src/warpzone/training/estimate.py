"""What a run would need: time from a short trial of the real trainer, and memory."""

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
    """Figures of a trial; memory is in bytes.

    Attributes:
        place: Device, precision and threads.
        updates: That the run will have.
        update_steps: Environment steps of each.
        tried: Updates of the trial.
        steps_per_second: Of the trial.
        seconds: Of the whole run at that speed.
        storage: Memory of the rollout; overlapped, of both.
        replay: Memory of replay once it is full.
        network: Of weights, gradients and optimizer.
        games: That the lanes were seen to take.
        resident: Of the whole process after the trial.
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
    games: int
    resident: int

    def __str__(self) -> str:
        """A few lines, each a comment of TOML."""
        return (
            f"# {self.place}\n"
            f"# {self.updates:,} updates of {self.update_steps:,} steps; "
            f"{self.steps_per_second:,.0f} steps/s in a trial of {self.tried} updates: "
            f"about {duration(self.seconds)} in all\n"
            f"# memory: {self.storage / _MIB:,.0f} MiB rollout, "
            f"{self.replay / _MIB:,.0f} MiB replay, {self.network / _MIB:,.0f} MiB "
            f"network and optimizer, {self.games / _MIB:,.0f} MiB games; "
            f"{self.resident / _MIB:,.0f} MiB in all"
        )


def estimate(config: TrainConfig) -> Estimate:
    """Trains for two updates, or for some seconds, and writes nothing."""
    games = _memory_of_games(config)
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
            games=games,
            resident=psutil.Process().memory_info().rss,
        )
    finally:
        trainer.close()


def _memory_of_games(config: TrainConfig) -> int:
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
