"""Reports updates as rows of metrics and as progress on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warpzone.telemetry.hub import Telemetry
from warpzone.telemetry.interval import MetricInterval
from warpzone.telemetry.metrics import MetricRow
from warpzone.telemetry.resources import ResourceMonitor
from warpzone.telemetry.terminal import Display, Progress, duration, short
from warpzone.training.pace import Pace
from warpzone.training.trainer import Trainer

_UPDATES_TO_JUDGE = 5  # Earlier, an estimate of the remaining time would be a guess.


class Reporter:
    """Writes a row for every interval of updates, and a last row when the run ends.

    Attributes:
        interval: Metrics of the updates since the last row.
    """

    def __init__(
        self, trainer: Trainer, telemetry: Telemetry, resources: ResourceMonitor, display: Display
    ) -> None:
        """Creates the reporter.

        Args:
            trainer: Trainer whose updates are reported.
            telemetry: Receives the rows.
            resources: Adds resource usage to each row.
            display: Shows progress.
        """
        self._trainer, self._telemetry = trainer, telemetry
        self._resources, self.display = resources, display
        self.interval = MetricInterval()
        self._pace = Pace(trainer.steps)
        self._steps, self._elapsed = trainer.steps, trainer.elapsed
        self._ended = False

    def add(self, row: MetricRow) -> None:
        """Adds the metrics of an update, shows progress, and writes a row if one is due."""
        trainer = self._trainer
        self._send_episodes(trainer.updates)
        self.interval.add(row, trainer.steps - self._steps, trainer.elapsed - self._elapsed)
        self._steps, self._elapsed = trainer.steps, trainer.elapsed
        self._show(row)
        if trainer.updates % trainer.config.run.log_every == 0:
            self._write()

    def end(self) -> None:
        """Writes the last row, once, so that the metrics end with the last update.

        A run that ended before its first update also gets a row, with 0 updates.
        """
        self._send_episodes(self._trainer.updates + 1)  # Episodes of an update that failed.
        if not self._ended and (self.interval.updates > 0 or self._trainer.updates == 0):
            self._write()
        self._ended = True

    def state_dict(self) -> dict[str, Any]:
        """Returns the state that a resumed run needs to complete the current interval."""
        return self.interval.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self.interval.load_state_dict(state)

    def _send_episodes(self, update: int) -> None:
        for episode in self._trainer.take_episodes():
            self._telemetry.episode(episode, self._trainer.sessions, update)

    def _write(self) -> None:
        self._telemetry.write(
            self.interval.take()
            | self._trainer.counters()
            | self._trainer.statistics.take_metrics()
            | self._resources.metrics()
        )

    def _show(self, row: MetricRow) -> None:
        trainer, total = self._trainer, self._trainer.config.run.steps
        self._pace.tick(trainer.steps)
        remaining = self._pace.seconds_for(total - trainer.steps)
        if self._pace.updates == _UPDATES_TO_JUDGE and remaining:
            steps = short(total - trainer.steps)
            self.display.message(f"about {duration(remaining)} for the remaining {steps} steps")
        self.display.update(
            Progress(
                level=trainer.config.env.level,
                steps=trainer.steps,
                total_steps=total,
                steps_per_second=float(row["speed/steps_per_second"]),
                remaining_seconds=remaining,
                clear_rate=trainer.statistics.clear_rate,
                best_distance=trainer.statistics.best_progress,
                mean_return=trainer.statistics.mean_return,
                phase="training",
                update=trainer.updates,
                episodes=trainer.statistics.total,
            )
        )
