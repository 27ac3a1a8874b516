"""The smallest configuration that trains, for tests of what is around training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from warpzone.config import EnvOptions, LearnOptions, ModelOptions, RunOptions, TrainConfig

LANES, STEPS = 4, 8
UPDATE = LANES * STEPS


def tiny(runs: Path | str = "runs", *, updates: int = 2, **run: Any) -> TrainConfig:
    """Trains for so many updates; more keywords are options of the run."""
    return TrainConfig(
        env=EnvOptions(obs="tiles", num_envs=LANES, num_threads=1),
        model=ModelOptions(hidden=16),
        learn=LearnOptions(rollout_steps=STEPS, minibatch_size=16),
        run=replace(
            RunOptions(torch_threads=1, device="cpu", log_every=1, video_minutes=0.0),
            runs=str(runs),
            steps=updates * UPDATE,
            **run,
        ),
    )
