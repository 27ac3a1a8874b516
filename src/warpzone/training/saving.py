"""When a run's checkpoints are written, and what a failed one means."""

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
"""Episodes before which a clear rate says little."""
METRICS = "metrics"
"""Where a checkpoint's state holds the reporter's part."""
_FAILED_SAVES_ALLOWED = 3  # In a row: a disk that is full for a while must not cost a night.


class Saver:
    """Saves a run, at most once per update."""

    def __init__(
        self, trainer: Trainer, store: CheckpointStore, reporter: Reporter, heartbeat: Heartbeat
    ) -> None:
        """Saves nothing yet.

        Args:
            trainer: Whose state is saved.
            store: Writes the checkpoints.
            reporter: Whose unfinished interval is part of the state.
            heartbeat: Shows that a checkpoint is being written.
        """
        self._trainer, self._store = trainer, store
        self._reporter, self._heartbeat = reporter, heartbeat
        self._best = store.best_clear_rate()
        self._saved: tuple[tuple[int, int], Path] | None = None
        self._failures = 0

    def save(self) -> Path:
        """Writes a checkpoint, unless the present state has one, and returns it.

        Raises:
            CheckpointError: It cannot be written; earlier ones are untouched.
        """
        trainer = self._trainer
        # Once a row is written, the interval of a checkpoint before it would be reported twice.
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
        """Saves, or leaves it to the next time; earlier checkpoints are still there.

        Raises:
            CheckpointError: It has failed too often in a row.
        """
        try:
            path = self.save()
        except CheckpointError as error:
            self._failures += 1
            if self._failures > _FAILED_SAVES_ALLOWED:
                raise
            # As text: a record that keeps the error keeps the whole state through its traceback.
            _log.warning("%s; training continues and tries again later", str(error))
            return None
        self._failures = 0
        return path

    def forget(self) -> None:
        """Notes that the checkpoints are gone, so that the next `save` writes one."""
        self._saved = None

    def save_failed(self, reason: str) -> Path:
        """Writes the state in which a run failed, for inspection.

        Raises:
            CheckpointError: It cannot be written.
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
