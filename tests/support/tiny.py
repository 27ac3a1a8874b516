"""Minimal training configuration, for tests of the code around training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from warpzone.config import EnvOptions, LearnOptions, ModelOptions, RunOptions, TrainConfig

NUM_ENVS, STEPS = 4, 8
UPDATE = NUM_ENVS * STEPS


def tiny(runs: Path | str = "runs", *, updates: int = 2, **run: Any) -> TrainConfig:
    """Returns a configuration for a number of updates; other keywords are run options."""
    return TrainConfig(
        env=EnvOptions(obs="tiles", num_envs=NUM_ENVS, num_threads=1),
        model=ModelOptions(hidden=16),
        learn=LearnOptions(rollout_steps=STEPS, minibatch_size=16),
        run=replace(
            RunOptions(torch_threads=1, device="cpu", log_every=1, video_minutes=0.0),
            runs=str(runs),
            steps=updates * UPDATE,
            **run,
        ),
    )
