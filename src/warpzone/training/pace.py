"""Throughput of a run, and estimate of its remaining time."""

from __future__ import annotations

import time
from collections.abc import Callable

from warpzone.rollout.sources import Rollout
from warpzone.telemetry.metrics import MetricRow

_DECAY = 0.97
"""Decay of the average per update; it covers about the last thirty updates."""


class Every:
    """Timer of an action that is due at intervals."""

    def __init__(self, minutes: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Creates the timer; the action is first due after one interval, or never if it is 0."""
        self._seconds, self._clock = 60.0 * minutes, clock
        self._began = clock()

    def due(self) -> bool:
        """Whether an interval has passed; if so, starts the next one."""
        if self._seconds <= 0 or self._clock() - self._began < self._seconds:
            return False
        self._began = self._clock()
        return True


class Pace:
    """Measures wall time, including everything between two updates."""

    def __init__(self, steps: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Starts the clock.

        Args:
            steps: Environment steps so far.
            clock: Clock; for tests.
        """
        self.updates = 0
        """Number of updates measured so far."""
        self._clock = clock
        self._last_steps, self._last_time = steps, clock()
        self._steps = self._seconds = 0.0

    def tick(self, steps: int) -> None:
        """Records the end of an update; `steps` is the total so far."""
        now = self._clock()
        # The first update includes warm-up, so it is discarded after the second.
        kept = 0.0 if self.updates == 1 else _DECAY
        self._steps = kept * self._steps + steps - self._last_steps
        self._seconds = kept * self._seconds + now - self._last_time
        self._last_steps, self._last_time = steps, now
        self.updates += 1

    @property
    def steps_per_second(self) -> float | None:
        """Smoothed throughput; None before the first update."""
        return self._steps / self._seconds if self._seconds > 0 else None

    def seconds_for(self, steps: int) -> float | None:
        """Returns the estimated time for a number of steps."""
        speed = self.steps_per_second
        return None if not speed else max(0, steps) / speed


def speed_row(rollout: Rollout, learning: float, wall: float) -> MetricRow:
    """Returns the times of one update, including the idle times of learner and collector."""
    times, steps = rollout.times, rollout.storage.steps * rollout.storage.num_envs
    # With overlap, collection only costs the time that the learner waits for it.
    serial = rollout.lag == 0
    counted = learning + (times.environment + times.inference if serial else rollout.learner_idle)
    return {
        "speed/steps_per_second": steps / wall,
        "speed/updates_per_second": 1.0 / wall,
        "speed/rollout_seconds": times.total,
        "speed/emulation_seconds": times.environment,
        "speed/inference_seconds": times.inference,
        "speed/learn_seconds": learning,
        "speed/other_share": max(0.0, 1.0 - counted / wall),
        "speed/learner_idle_seconds": rollout.learner_idle,
        "speed/collector_idle_seconds": rollout.collector_idle,
        "learn/policy_lag": rollout.lag,
    }
