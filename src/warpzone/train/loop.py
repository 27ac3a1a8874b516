"""The training loop: collect, learn, report, save."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import asdict

from warpzone.telemetry.heartbeat import Heartbeat
from warpzone.telemetry.hub import Telemetry
from warpzone.telemetry.metrics import MetricRow
from warpzone.telemetry.resources import ResourceMonitor
from warpzone.telemetry.terminal import Display, Progress, duration, short
from warpzone.train.checkpoint import CheckpointMeta
from warpzone.train.checkpoint_store import CheckpointStore
from warpzone.train.pace import Pace
from warpzone.train.signals import StopRequest
from warpzone.train.trainer import Trainer

_log = logging.getLogger(__name__)

_ENOUGH_EPISODES = 100  # Before that, a clear rate says little.
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
    ):
        """Puts the parts together."""
        self.trainer, self.telemetry, self.heartbeat = trainer, telemetry, heartbeat
        self.resources, self.store, self.display = resources, store, display
        self.best = 0.0
        self.pace = Pace(trainer.steps)
        self._saved_update = -1
        self._saved_at = time.monotonic()

    def run(self, stop: StopRequest) -> None:
        """Trains until the steps are done, the goal is reached, or somebody asks to stop.

        The latest state is saved whatever ends the loop.
        """
        config = self.trainer.config.run
        try:
            while self.trainer.steps < config.steps and not stop and not self._reached_goal():
                self.heartbeat.beat("update", self.trainer.updates, self.trainer.steps)
                row = self.trainer.update()
                self._show(row)
                if self.trainer.updates % config.log_every == 0:
                    self._report(row)
                if time.monotonic() - self._saved_at > config.checkpoint_minutes * 60:
                    self.save()
        finally:
            self.save()

    def _reached_goal(self) -> bool:
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

    def save(self, note: Callable[[str], None] = _log.info) -> None:
        """Writes a checkpoint, unless this update has one."""
        trainer = self.trainer
        if trainer.updates == self._saved_update:
            return
        self.heartbeat.beat("checkpoint")
        best = trainer.success > self.best and trainer.statistics.total >= _ENOUGH_EPISODES
        if best:
            self.best = trainer.success
        meta = CheckpointMeta(
            trainer.steps,
            trainer.updates,
            config=asdict(trainer.config),
            extra={"clear_rate": trainer.success, "episodes": trainer.statistics.total},
        )
        path = self.store.save(trainer.state_dict(), meta, best=best)
        self._saved_update, self._saved_at = trainer.updates, time.monotonic()
        note(f"saved {path.name} at {trainer.steps:,} steps, clear rate {trainer.success:.0%}")
