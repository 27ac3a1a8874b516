"""How fast a run is, and how long the rest of it will take."""

from __future__ import annotations

import time
from collections.abc import Callable

from warpzone.rollout.sources import Rollout
from warpzone.telemetry.metrics import MetricRow

_KEPT = 0.97
"""Decay of the average per update: about the last thirty updates count."""


class Every:
    """An action that is due at intervals."""

    def __init__(self, minutes: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Waits for one interval first; 0 minutes disables it."""
        self._seconds, self._clock = 60.0 * minutes, clock
        self._began = clock()

    def due(self) -> bool:
        """Whether an interval has passed; if so, the next one begins."""
        if self._seconds <= 0 or self._clock() - self._began < self._seconds:
            return False
        self._began = self._clock()
        return True


class Pace:
    """Measures wall time, including everything between two updates."""

    def __init__(self, steps: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Starts the clock.

        Args:
            steps: Done so far.
            clock: For tests.
        """
        self.updates = 0
        """Updates measured so far."""
        self._clock = clock
        self._last_steps, self._last_time = steps, clock()
        self._steps = self._seconds = 0.0

    def tick(self, steps: int) -> None:
        """Notes the end of an update; `steps` is the total so far."""
        now = self._clock()
        # The first update warms up caches and compilers; it counts only until the second.
        kept = 0.0 if self.updates == 1 else _KEPT
        self._steps = kept * self._steps + steps - self._last_steps
        self._seconds = kept * self._seconds + now - self._last_time
        self._last_steps, self._last_time = steps, now
        self.updates += 1

    @property
    def steps_per_second(self) -> float | None:
        """The smoothed speed; None before the first update."""
        return self._steps / self._seconds if self._seconds > 0 else None

    def seconds_for(self, steps: int) -> float | None:
        """Time that the given number of steps will take."""
        speed = self.steps_per_second
        return None if not speed else max(0, steps) / speed


def speed_row(rollout: Rollout, learning: float, wall: float) -> MetricRow:
    """The times of one update, and how long learner and collector waited for each other."""
    times, steps = rollout.times, rollout.storage.steps * rollout.storage.num_envs
    # Overlapped, collecting takes time only where the learner waits for it.
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
