"""Saving of a run's checkpoints, and handling of failed saves."""

from __future__ import annotations

import logging
from dataclasses import asdict
from pathlib import Path
from typing import Any

from warpzone.errors import CheckpointError
from warpzone.runs.checkpoint import CheckpointMeta
from warpzone.runs.checkpoint_store import CheckpointStore
from warpzone.telemetry.heartbeat import Heartbeat
from warpzone.training.reporting import Reporter
from warpzone.training.trainer import Trainer

_log = logging.getLogger(__name__)

ENOUGH_EPISODES = 100
"""Number of episodes below which a clear rate means little."""
METRICS = "metrics"
"""Key of the reporter's state in a checkpoint."""
_FAILED_SAVES_ALLOWED = 3  # Consecutive; a temporarily full disk must not stop a long run.


class Saver:
    """Saves a run, at most once per update."""

    def __init__(
        self, trainer: Trainer, store: CheckpointStore, reporter: Reporter, heartbeat: Heartbeat
    ) -> None:
        """Creates the saver.

        Args:
            trainer: Trainer whose state is saved.
            store: Writes the checkpoints.
            reporter: Reporter whose unfinished interval is part of the state.
            heartbeat: Reports that a checkpoint is being written.
        """
        self._trainer, self._store = trainer, store
        self._reporter, self._heartbeat = reporter, heartbeat
        self._best = store.best_clear_rate()
        self._saved: tuple[tuple[int, int], Path] | None = None
        self._failures = 0

    def save(self) -> Path:
        """Writes a checkpoint, unless the current state has one, and returns it.

        Raises:
            CheckpointError: The checkpoint cannot be written; earlier ones are untouched.
        """
        trainer = self._trainer
        # If a row was written since, the interval of the earlier checkpoint would be repeated.
        moment = trainer.updates, self._reporter.interval.updates
        if self._saved is not None and self._saved[0] == moment:
            return self._saved[1]
        self._heartbeat.beat("checkpoint")
        best = trainer.success > self._best and trainer.statistics.total >= ENOUGH_EPISODES
        path = self._store.save(self._state(), self._meta(), best=best)
        if best:
            self._best = trainer.success
        self._saved = moment, path
        _log.info(
            "saved %s at %s steps, clear rate %.0f%%",
            path.name,
            f"{trainer.steps:,}",
            100 * trainer.success,
        )
        return path

    def try_to_save(self) -> Path | None:
        """Saves, or logs a warning if that fails; earlier checkpoints are untouched.

        Raises:
            CheckpointError: Too many consecutive saves have failed.
        """
        try:
            path = self.save()
        except CheckpointError as error:
            self._failures += 1
            if self._failures > _FAILED_SAVES_ALLOWED:
                raise
            # As text: a log record with the error would keep the whole state alive.
            _log.warning("%s; training continues and saving is retried", str(error))
            return None
        self._failures = 0
        return path

    def forget(self) -> None:
        """Marks the checkpoints as gone, so that the next `save` writes one."""
        self._saved = None

    def save_failed(self, reason: str) -> Path:
        """Writes the state in which a run failed, for inspection.

        Raises:
            CheckpointError: The state cannot be written.
        """
        extra = {"failure": reason, "rollout": self._trainer.storage.statistics()}
        return self._store.save_failed(self._state(), self._meta(extra))

    def _state(self) -> dict[str, Any]:
        return self._trainer.state_dict() | {METRICS: self._reporter.state_dict()}

    def _meta(self, extra: dict[str, Any] | None = None) -> CheckpointMeta:
        trainer = self._trainer
        about = {"clear_rate": trainer.success, "episodes": trainer.statistics.total}
        return CheckpointMeta(
            trainer.steps,
            trainer.updates,
            config=asdict(trainer.config),
            extra=about | (extra or {}),
        )
