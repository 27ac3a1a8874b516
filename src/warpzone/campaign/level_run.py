"""One run of a campaign: begun, or gone on with where it stopped."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from warpzone.campaign.ending import Ending
from warpzone.config import TrainConfig
from warpzone.telemetry.terminal import Mode
from warpzone.train import session
from warpzone.train.checkpoint_store import find_latest
from warpzone.train.run_directory import CONFIG_FILE
from warpzone.train.run_lock import run_lock
from warpzone.train.signals import StopRequest


@dataclass(frozen=True)
class LevelTraining:
    """Trains runs in this process.

    Attributes:
        display: How progress is shown.
        film: Films checkpoints while a run goes on.
        allow_changes: Runs that have begun go on with the new configuration.
    """

    display: Mode = "auto"
    film: session.Film | None = None
    allow_changes: bool = False

    def __call__(self, run: Path, config: TrainConfig, ending: Ending) -> StopRequest:
        """Trains until the budget is used up, the ending says so, or somebody asks to stop."""
        if find_latest(run) is None:
            discard_unborn(run)
            _, stop = session.start(config, self.display, film=self.film, until=ending)
            return stop
        _, stop = session.resume(
            run,
            config if self.allow_changes else _continued(run, config),
            self.allow_changes,
            self.display,
            film=self.film,
            until=ending,
        )
        return stop


def discard_unborn(run: Path) -> None:
    """Removes the folder of a run that was killed before its first checkpoint.

    Nothing that could be gone on with is in it, and its name is needed.
    """
    if not run.exists():
        return
    if (run / CONFIG_FILE).is_file():
        with run_lock(run):
            pass  # Somebody who trains here this moment is told apart from somebody killed.
    shutil.rmtree(run)


def _continued(run: Path, config: TrainConfig) -> TrainConfig:
    """As the run began (memory may have made it smaller), with what a campaign may change."""
    saved = session.saved_config(run)
    asked = config.run
    return replace(
        saved,
        watch=config.watch,
        workers=config.workers,
        env=replace(saved.env, num_threads=config.env.num_threads),
        run=replace(
            saved.run,
            steps=asked.steps,
            runs=asked.runs,
            log_every=asked.log_every,
            checkpoint_minutes=asked.checkpoint_minutes,
            keep_checkpoints=asked.keep_checkpoints,
            video_minutes=asked.video_minutes,
            torch_threads=asked.torch_threads,
        ),
    )
