"""Heartbeat: a thread that records what the run is doing, and how to read its last line."""

from __future__ import annotations

import math
import threading
import time
from pathlib import Path

from warpzone.system.processes import ProcessId
from warpzone.telemetry.jsonl import JsonlSink
from warpzone.telemetry.reading import Row, finite, last_line

INTERVAL = 5.0
"""Seconds between two lines."""

FRESH = 30.0
"""Age in seconds above which a line no longer proves that the process is running."""

RUNNING, STALLED, PAUSED = "running", "stalled", "paused"
FINISHED, INTERRUPTED, CRASHED = "finished", "interrupted", "crashed"
_ROTATE_BYTES = 4 * 1024 * 1024


class Heartbeat:
    """Writes a line every few seconds, independently of the training loop."""

    def __init__(
        self, path: Path, interval: float = INTERVAL, stall_seconds: float = math.inf
    ) -> None:
        """Starts the thread.

        Args:
            path: File to append to, such as `heartbeat.jsonl`.
            interval: Seconds between lines.
            stall_seconds: Seconds without progress after which the run is reported as stalled.
        """
        self._sink = JsonlSink(path, _ROTATE_BYTES)
        self._interval = interval
        self._stall_seconds = stall_seconds
        self._process = ProcessId.own()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._closing = False
        self._phase = "start"
        self._update = self._steps = 0
        self._progress_time = time.time()
        self._progress_clock = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self._thread.start()

    def beat(
        self, phase: str | None = None, update: int | None = None, steps: int | None = None
    ) -> None:
        """Records what the loop is doing; cheap enough for every step.

        Args:
            phase: Current phase, such as 'rollout', 'learn', 'checkpoint', 'evaluate'. PAUSED
                counts as progress.
            update: Number of updates so far.
            steps: Environment steps so far; an increase of `steps` or `update` is progress.
        """
        with self._lock:
            if phase is not None:
                self._phase = phase
            # A paused run is not stalled.
            if (
                (update is not None and update > self._update)
                or (steps is not None and steps > self._steps)
                or phase == PAUSED
            ):
                self._progress_time = time.time()
                self._progress_clock = time.monotonic()
            self._update = self._update if update is None else update
            self._steps = self._steps if steps is None else steps

    @property
    def seconds_since_progress(self) -> float:
        """Returns the seconds since steps or updates last increased."""
        with self._lock:
            return time.monotonic() - self._progress_clock

    def close(self, phase: str = FINISHED, timeout: float = 5.0) -> None:
        """Writes a last line and stops the thread.

        Args:
            phase: How the run ended: FINISHED, INTERRUPTED or CRASHED.
            timeout: Seconds to wait for the thread.
        """
        self.beat(phase)
        self._closing = True
        self._wake.set()
        self._thread.join(timeout)

    def _run(self) -> None:
        while True:
            last = self._closing  # Read before the row is made: the last row must follow `close`.
            self._sink.write(self._row())
            if last:
                break
            self._wake.wait(self._interval)
        self._sink.close()

    def _row(self) -> dict[str, object]:
        stalled = self.seconds_since_progress >= self._stall_seconds
        with self._lock:
            return {
                "time": time.time(),
                "phase": self._phase,
                "update": self._update,
                "steps": self._steps,
                "last_progress": self._progress_time,
                "stalled": stalled,
                **self._process.as_row(),
            }


def last_heartbeat(path: Path) -> Row | None:
    """Returns the newest line of a run's heartbeat, or None."""
    return last_line(path)


def state_of(row: Row | None, now: float | None = None) -> str:
    """Derives the state of a run from its newest heartbeat.

    Args:
        row: Newest heartbeat, from `last_heartbeat`.
        now: Current Unix time in seconds; for tests.

    Returns:
        'running', 'paused', 'finished', 'interrupted', 'crashed', 'new' for a run without a
        heartbeat, or 'stalled': its process is alive but frozen, or has made no progress for too
        long.
    """
    if row is None:
        return "new"
    phase = str(row.get("phase"))
    if phase in (FINISHED, INTERRUPTED, CRASHED):
        return phase
    age = (time.time() if now is None else now) - (finite(row, "time") or 0.0)
    process = ProcessId.from_row(row)
    alive = None if process is None else process.is_alive()
    if alive is False or (alive is None and age >= FRESH):
        return CRASHED
    if age >= FRESH or row.get("stalled") is True:
        return STALLED
    return PAUSED if phase == PAUSED else RUNNING
