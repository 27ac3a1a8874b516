"""The configuration that a run was started with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from warpzone.config import TrainConfig, from_toml, overlaid
from warpzone.runs.directory import run_of

FREE_OPTIONS = (
    "run.steps",
    "run.runs",
    "run.name",
    "run.log_every",
    "run.checkpoint_minutes",
    "run.video_minutes",
    "run.keep_checkpoints",
    "run.wandb",
    "run.plugins",
    "run.stop_at_clear_rate",
    "run.torch_threads",
    "run.auto_mem",
    "watch",
    "env.num_threads",
    "workers",
    "model.eval_temperature",
)
"""What may differ between a run and its continuation without changing what is learned."""


def saved_config(target: Path) -> TrainConfig:
    """The configuration that a run, or the run of a checkpoint, was started with."""
    run = run_of(target)
    return overlaid(TrainConfig(), from_toml(run.read_config(), str(run.config)))


def with_free_options(saved: TrainConfig, asked: TrainConfig) -> TrainConfig:
    """A run's own configuration, with what is asked for now where that may differ."""
    for name in FREE_OPTIONS:
        table, _, option = name.partition(".")
        value = getattr(asked, table)
        if option:
            value = replace(getattr(saved, table), **{option: getattr(value, option)})
        saved = replace(saved, **{table: value})
    return saved
