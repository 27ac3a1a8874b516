"""Check whether a run is already complete."""

from __future__ import annotations

from pathlib import Path

from warpzone.config import TrainConfig
from warpzone.errors import RunCompleteError
from warpzone.runs.checkpoint import read_meta
from warpzone.training.saving import ENOUGH_EPISODES


def check_incomplete(path: Path, config: TrainConfig) -> None:
    """Checks that a run has steps left to train.

    Args:
        path: Checkpoint to resume from.
        config: Configuration to resume with.

    Raises:
        RunCompleteError: All steps are done, or the goal is reached.
        CheckpointError: The checkpoint cannot be read.
    """
    meta = read_meta(path)
    if meta.steps >= config.run.steps:
        raise RunCompleteError(
            f"already complete: {meta.steps:,} of {config.run.steps:,} steps are done; use a "
            "larger --steps to continue"
        )
    goal, rate = config.run.stop_at_clear_rate, float(meta.extra.get("clear_rate", 0.0))
    if 0 < goal <= rate and meta.extra.get("episodes", 0) >= ENOUGH_EPISODES:
        raise RunCompleteError(
            f"already complete: the clear rate of {rate:.0%} reaches the goal of {goal:.0%}; use a "
            "higher --stop-at-clear-rate, or 0, to continue"
        )
