"""The training loop: collect, learn, report, save."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from warpzone.algorithms.gradient_step import LearnerError
from warpzone.errors import CheckpointError, RunError
from warpzone.system.signals import StopRequest
from warpzone.telemetry.heartbeat import Heartbeat
from warpzone.telemetry.metrics import MetricRow
from warpzone.training.failures import is_out_of_memory, out_of_memory
from warpzone.training.pace import Every
from warpzone.training.reporting import Reporter
from warpzone.training.run_folder import RunFolder
from warpzone.training.saving import ENOUGH_EPISODES, Saver
from warpzone.training.steering import Steering
from warpzone.training.trainer import Trainer

_log = logging.getLogger(__name__)

Until = Callable[[Trainer], bool]
"""Called between updates; True stops the run."""


OnUpdate = Callable[[Mapping[str, float]], bool | None]
"""Called with the metrics of each update; False ends the run early."""


class Loop:
    """Runs a trainer to its end, with metrics, checkpoints and videos."""

    def __init__(
        self,
        trainer: Trainer,
        *,
        reporter: Reporter,
        saver: Saver,
        heartbeat: Heartbeat,
        folder: RunFolder,
        record: Callable[[Path], None] | None = None,
        until: Until | None = None,
        on_update: OnUpdate | None = None,
        steering: Steering | None = None,
    ):
        """Creates the loop.

        Args:
            trainer: Does the updates.
            reporter: Writes metrics and shows progress.
            saver: Writes checkpoints.
            heartbeat: Reports that the run is alive.
            folder: Restores a run folder that was deleted.
            record: Starts a video of a checkpoint and returns immediately.
            until: Stops the run early.
            on_update: Sees the metrics of each update and may end the run.
            steering: Carries out commands between updates.
        """
        self.trainer, self.reporter, self.saver = trainer, reporter, saver
        self.steering = steering
        self.heartbeat, self.folder, self.record, self.until = heartbeat, folder, record, until
        self.on_update = on_update

    def run(self, stop: StopRequest) -> None:
        """Trains until the steps are done, the goal is reached, or a stop is requested.

        However the loop ends, the metrics end with its last update and the latest state is saved;
        only a second Ctrl-C does not wait for a checkpoint.
        """
        config = self.trainer.config.run
        save_every, video_every = Every(config.checkpoint_minutes), Every(config.video_minutes)
        try:
            while self._continues(stop):
                self.heartbeat.beat("update", self.trainer.updates, self.trainer.steps)
                row = self.trainer.update()
                self.reporter.add(row)
                if self.on_update is not None and self.on_update(self._described(row)) is False:
                    stop.ask("the callback")
                if self._restored_folder():
                    self.saver.try_to_save()
                if self.record is not None and video_every.due():
                    self._record(self.record)
                if save_every.due():
                    self.saver.try_to_save()
            self._end_metrics()
            self.saver.save()
        except BaseException as error:
            self._end_metrics()
            if isinstance(error, Exception):
                self._keep_after(error)
            raise
        finally:
            self.heartbeat.beat(update=self.trainer.updates, steps=self.trainer.steps)

    def _described(self, row: MetricRow) -> MetricRow:
        """The metrics of an update, with how far the run is."""
        rate = self.trainer.statistics.clear_rate
        clears: MetricRow = {} if rate is None else {"rollout/clear_rate": rate}
        return self.trainer.counters() | row | clears

    def _continues(self, stop: StopRequest) -> bool:
        if self.steering is not None:
            self.steering.poll(stop)
        steps = self.trainer.config.run.steps  # A command may have changed them.
        return self.trainer.steps < steps and not stop and not self._reached_goal()

    def _restored_folder(self) -> bool:
        restored = self.folder.restore_if_deleted()
        if restored:
            self.saver.forget()
        return restored

    def _end_metrics(self) -> None:
        self._restored_folder()
        self.reporter.end()

    def _record(self, record: Callable[[Path], None]) -> None:
        path = self.saver.try_to_save()
        if path is not None:
            record(path)

    def _keep_after(self, error: Exception) -> None:
        """Saves the state after an error; some errors are replaced by one with a remedy."""
        if isinstance(error, CheckpointError):
            return  # Saving itself failed; earlier checkpoints are untouched.
        if isinstance(error, LearnerError):
            raise RunError(
                f"{error}; {self._kept_for_inspection(error)}; resume the run from an earlier "
                "checkpoint with a lower --learning-rate and --resume-with-changes"
            ) from error
        saved = "the latest state is saved"
        try:
            self.trainer.abandon_update()
            self.saver.save()
        except Exception as second:  # noqa: BLE001 - the first error is what matters
            saved = f"the latest state could not be saved ({second})"
        _log.info("%s: %s; %s", type(error).__name__, str(error), saved)
        if is_out_of_memory(error):
            raise out_of_memory(error, saved) from error

    def _kept_for_inspection(self, error: LearnerError) -> str:
        try:
            return f"the state is kept in {self.saver.save_failed(str(error))} for inspection"
        except CheckpointError as second:
            return f"the state could not be kept ({second})"

    def _reached_goal(self) -> bool:
        if self.until is not None and self.until(self.trainer):
            return True
        goal = self.trainer.config.run.stop_at_clear_rate
        enough = self.trainer.statistics.total >= ENOUGH_EPISODES
        return goal > 0 and enough and self.trainer.success >= goal
