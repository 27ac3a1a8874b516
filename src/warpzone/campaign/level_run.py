"""One run of a campaign: begun, or gone on with where it stopped."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
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
        # As the run began: memory may have made it smaller than what is asked for.
        same = session.with_free_options(session.saved_config(run), config)
        _, stop = session.resume(
            run,
            config if self.allow_changes else same,
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
