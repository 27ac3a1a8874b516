"""The training loop: collect, learn, report, save."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from warpzone.algorithms.learner import LearnerError
from warpzone.errors import CheckpointError, RunError
from warpzone.runs.checkpoint import CheckpointMeta
from warpzone.runs.checkpoint_store import CheckpointStore
from warpzone.system.signals import StopRequest
from warpzone.telemetry.heartbeat import Heartbeat
from warpzone.telemetry.hub import Telemetry
from warpzone.telemetry.metrics import MetricRow
from warpzone.telemetry.resources import ResourceMonitor
from warpzone.telemetry.terminal import Display, Progress, duration, short
from warpzone.train.failures import is_out_of_memory, out_of_memory
from warpzone.train.pace import Every, Pace
from warpzone.train.trainer import Trainer

_log = logging.getLogger(__name__)

Until = Callable[[Trainer], bool]
"""Asked between updates whether a run has done what it was started for."""

_ENOUGH_EPISODES = 100  # Before that, a clear rate says little.
_FAILED_SAVES_ALLOWED = 3  # In a row: a disk that is full for a while must not cost a night.
_UPDATES_TO_JUDGE = 5  # Before that, the expected time would be a guess.


class Loop:
    """Drives a trainer to its end and keeps what it does on disk."""

    def __init__(
        self,
        trainer: Trainer,
        *,
        telemetry: Telemetry,
        heartbeat: Heartbeat,
        resources: ResourceMonitor,
        store: CheckpointStore,
        display: Display,
        record: Callable[[Path], None] | None = None,
        until: Until | None = None,
    ):
        """Puts the parts together; `film` begins a film of a checkpoint and returns at once."""
        self.trainer, self.telemetry, self.heartbeat = trainer, telemetry, heartbeat
        self.resources, self.store, self.display, self.record = resources, store, display, record
        self.until = until
        self.best = store.best_clear_rate()
        self.pace = Pace(trainer.steps)
        self._saved: tuple[int, Path] | None = None
        self._failed_saves = 0

    def run(self, stop: StopRequest) -> None:
        """Trains until the steps are done, the goal is reached, or somebody asks to stop.

        The latest state is saved whatever ends the loop; only a second Ctrl-C ends it at once.
        """
        config = self.trainer.config.run
        save_every, video_every = Every(config.checkpoint_minutes), Every(config.video_minutes)
        try:
            while self.trainer.steps < config.steps and not stop and not self._reached_goal():
                self.heartbeat.beat("update", self.trainer.updates, self.trainer.steps)
                row = self.trainer.update()
                self._show(row)
                if self.trainer.updates % config.log_every == 0:
                    self._report(row)
                if self.record is not None and video_every.due() and (path := self._try_to_save()):
                    self.record(path)
                if save_every.due():
                    self._try_to_save()
            self.save()
        except Exception as error:
            self._keep_after(error)
            raise

    def _keep_after(self, error: Exception) -> None:
        """Saves what an error leaves; it may become a sentence that says what to do."""
        if isinstance(error, CheckpointError):
            return  # Saving is what failed; earlier checkpoints are there.
        if isinstance(error, LearnerError):
            path = self.store.save_failed(self.trainer.state_dict(), self._meta(str(error)))
            raise RunError(
                f"{error}; that state is kept in {path} to look at, and the run can go on from an "
                "earlier checkpoint with a lower --learning-rate and --resume-with-changes"
            ) from error
        saved = "the latest state is saved"
        try:
            self.trainer.abandon_update()
            self.save()
        except Exception as second:  # noqa: BLE001 - the first error is what matters
            saved = f"the latest state could not be saved ({second})"
        _log.info("%s: %s; %s", type(error).__name__, error, saved)
        if is_out_of_memory(error):
            raise out_of_memory(error, saved) from error

    def _reached_goal(self) -> bool:
        if self.until is not None and self.until(self.trainer):
            return True
        goal = self.trainer.config.run.stop_at_clear_rate
        enough = self.trainer.statistics.total >= _ENOUGH_EPISODES
        return goal > 0 and enough and self.trainer.success >= goal

    def _report(self, row: MetricRow) -> None:
        self.telemetry.write(
            row
            | self.trainer.counters()
            | self.trainer.statistics.take_metrics()
            | self.resources.metrics()
        )

    def _show(self, row: MetricRow) -> None:
        trainer = self.trainer
        self.pace.tick(trainer.steps)
        remaining = self.pace.seconds_for(trainer.config.run.steps - trainer.steps)
        if self.pace.updates == _UPDATES_TO_JUDGE and remaining:
            steps = short(trainer.config.run.steps - trainer.steps)
            self.display.message(f"about {duration(remaining)} for the {steps} steps to go")
        self.display.update(
            Progress(
                level=trainer.config.env.level,
                steps=trainer.steps,
                total_steps=trainer.config.run.steps,
                steps_per_second=float(row["speed/steps_per_second"]),
                remaining_seconds=remaining,
                clear_rate=trainer.statistics.clear_rate,
                best_distance=trainer.statistics.best_progress,
                phase="training",
                update=trainer.updates,
                episodes=trainer.statistics.total,
            )
        )

    def _try_to_save(self) -> Path | None:
        """Saves, or leaves it to the next time; earlier checkpoints are there."""
        try:
            path = self.save()
        except CheckpointError as error:
            self._failed_saves += 1
            if self._failed_saves > _FAILED_SAVES_ALLOWED:
                raise
            _log.warning("%s; the run goes on and tries again later", error)
            return None
        self._failed_saves = 0
        return path

    def save(self) -> Path:
        """Writes a checkpoint, unless this update has one, and returns it."""
        trainer = self.trainer
        if self._saved is not None and self._saved[0] == trainer.updates:
            return self._saved[1]
        self.heartbeat.beat("checkpoint")
        best = trainer.success > self.best and trainer.statistics.total >= _ENOUGH_EPISODES
        if best:
            self.best = trainer.success
        path = self.store.save(trainer.state_dict(), self._meta(), best=best)
        self._saved = trainer.updates, path
        _log.info(
            "saved %s at %s steps, clear rate %.0f%%",
            path.name,
            f"{trainer.steps:,}",
            100 * trainer.success,
        )
        return path

    def _meta(self, failure: str = "") -> CheckpointMeta:
        trainer = self.trainer
        extra: dict[str, Any] = {
            "clear_rate": trainer.success,
            "episodes": trainer.statistics.total,
        }
        if failure:
            extra |= {"failure": failure, "rollout": trainer.storage.statistics()}
        return CheckpointMeta(
            trainer.steps, trainer.updates, config=asdict(trainer.config), extra=extra
        )
