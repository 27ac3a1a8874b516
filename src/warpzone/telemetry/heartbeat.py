"""Signs of life: a thread that appends what the run is doing, and reading them back."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from warpzone.system.processes import ProcessId
from warpzone.telemetry.jsonl import JsonlSink, last_line

INTERVAL = 5.0
"""Seconds between two signs of life."""

FRESH = 30.0
"""Age in seconds at which the last sign of life proves nothing any more."""

FINISHED, INTERRUPTED, CRASHED = "finished", "interrupted", "crashed"
_ROTATE_BYTES = 4 * 1024 * 1024


class Heartbeat:
    """Writes a line every few seconds, whatever the loop does."""

    def __init__(self, path: Path, interval: float = INTERVAL) -> None:
        """Starts the thread.

        Args:
            path: Such as `heartbeat.jsonl`.
            interval: Seconds between lines.
        """
        self._sink = JsonlSink(path, _ROTATE_BYTES)
        self._interval = interval
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
        """Says what the loop does now; cheap enough for every step.

        Args:
            phase: Such as 'rollout', 'learn', 'checkpoint', 'evaluate'.
            update: Updates done.
            steps: Environment steps done; a rise of this or of `update` is progress.
        """
        with self._lock:
            if phase is not None:
                self._phase = phase
            if (update is not None and update > self._update) or (
                steps is not None and steps > self._steps
            ):
                self._progress_time = time.time()
                self._progress_clock = time.monotonic()
            self._update = self._update if update is None else update
            self._steps = self._steps if steps is None else steps

    @property
    def seconds_since_progress(self) -> float:
        """How long neither steps nor updates have risen."""
        with self._lock:
            return time.monotonic() - self._progress_clock

    def close(self, phase: str = FINISHED, timeout: float = 5.0) -> None:
        """Writes a last line and ends the thread.

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
            last = self._closing  # read first: the last row is one made after `close` said how
            self._sink.write(self._row())
            if last:
                break
            self._wake.wait(self._interval)
        self._sink.close()

    def _row(self) -> dict[str, object]:
        with self._lock:
            return {
                "time": time.time(),
                "phase": self._phase,
                "update": self._update,
                "steps": self._steps,
                "last_progress": self._progress_time,
                **self._process.as_row(),
            }


def last_heartbeat(path: Path) -> dict[str, Any] | None:
    """Returns the newest sign of life of a run, or None."""
    return last_line(path)


def state_of(row: dict[str, Any] | None, now: float | None = None) -> str:
    """Judges a run by its newest sign of life.

    Args:
        row: From `last_heartbeat`.
        now: Unix seconds, for tests.

    Returns:
        'running', 'finished', 'interrupted', 'crashed', or 'new' for a run without any sign.
    """
    if row is None:
        return "new"
    phase = str(row.get("phase"))
    if phase in (FINISHED, INTERRUPTED, CRASHED):
        return phase
    age = (time.time() if now is None else now) - float(row.get("time", 0.0))
    process = ProcessId.from_row(row)
    alive = process is not None and process.is_alive() is not False
    return "running" if alive and age < FRESH else CRASHED
