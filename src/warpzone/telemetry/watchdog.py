"""Watchdogs: dump the stacks of all threads when a run stalls or its steps are slow."""

from __future__ import annotations

import faulthandler
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

_log = logging.getLogger(__name__)

_KEPT_FILES = 20


def dump_stacks(path: Path, title: str) -> bool:
    """Appends the stacks of all threads to a file.

    Returns:
        Whether the file could be written; a full disk must not stop a run.
    """
    try:
        # Only the innermost folder: a deleted run must not be recreated.
        path.parent.mkdir(exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{_now()} {title}\n")
            file.flush()
            faulthandler.dump_traceback(file, all_threads=True)
            file.write("\n")
    except OSError as error:
        _log.warning("%s cannot be written: %s", path, error)
        return False
    return True


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _new_file(folder: Path, kind: str) -> Path:
    """Returns a file named after the time, and removes the oldest files of its kind."""
    for old in sorted(folder.glob(f"{kind}-*.txt"))[: -_KEPT_FILES + 1]:
        old.unlink(missing_ok=True)
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    return folder / f"{kind}-{moment}.txt"


class StallWatchdog:
    """Dumps the stacks of all threads once per stall."""

    def __init__(self, idle: Callable[[], float], limit: float, folder: Path):
        """Starts a thread.

        Args:
            idle: Returns the seconds since the last progress.
            limit: Seconds without progress that count as a stall.
            folder: Folder for the dumps.
        """
        self._idle, self._limit, self._folder = idle, limit, folder
        self.stalls = 0
        """Number of stalls so far."""
        self._stalled = False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops the thread."""
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._closing.wait(min(self._limit / 4, 5.0)):
            self.look()

    def look(self) -> None:
        """Checks for progress now."""
        idle = self._idle()
        if idle < self._limit:
            if self._stalled:
                _log.warning("the run has resumed after a stall")
            self._stalled = False
        elif not self._stalled:
            self._stalled = True
            self.stalls += 1
            path = _new_file(self._folder, "stall")
            if dump_stacks(path, f"no progress for {idle:.0f} s"):
                _log.warning(
                    "no progress for %.0f s; the stacks of all threads are in %s", idle, path
                )


class SlowSteps:
    """Traces steps after several slow ones within a window, in one file per window.

    While steps are fast, the cost is two clock readings per step.
    """

    def __init__(
        self,
        limit: float,
        count: int,
        window: float,
        folder: Path,
        clock: Callable[[], float] = time.monotonic,
    ):
        """Creates an inactive tracer.

        Args:
            limit: Seconds above which a step is slow.
            count: Number of slow steps within the window that starts a trace.
            window: Duration of the window and of a trace, in seconds.
            folder: Folder for the traces.
            clock: Clock; for tests.
        """
        self._limit, self._count, self._window, self._folder = limit, count, window, folder
        self._clock = clock
        self._slow: deque[tuple[float, float]] = deque(maxlen=count)
        self._began: float | None = None
        self._traced_until = float("-inf")
        self._step = 0
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Marks the beginning of a step."""
        self._step += 1
        self._began = self._clock()

    def end(self) -> None:
        """Marks the end of a step."""
        assert self._began is not None
        now = self._clock()
        took, self._began = now - self._began, None
        if took < self._limit:
            return
        self._slow.append((now, took))
        within = len(self._slow) == self._count and now - self._slow[0][0] <= self._window
        if within and now >= self._traced_until:
            self._traced_until = now + self._window
            self._start_trace()

    def _start_trace(self) -> None:
        times = ", ".join(f"{took:.2f}" for _, took in self._slow)
        path = _new_file(self._folder, "slow-steps")
        title = f"{self._count} steps within {self._window:.0f} s were slow: {times} s"
        if not dump_stacks(path, title):
            return
        _log.warning("%s; further slow steps are traced in %s", title, path)
        self._thread = threading.Thread(
            target=self._trace, args=(path, self._traced_until), name="slow-steps", daemon=True
        )
        self._thread.start()

    def _trace(self, path: Path, until: float) -> None:
        """Writes the stacks of all threads during each slow step."""
        written = 0
        while self._clock() < until and not self._closing.wait(self._limit / 4):
            step, began = self._step, self._began
            if began is None or step == written or self._clock() - began < self._limit:
                continue
            written = step
            dump_stacks(path, f"step {step} has taken {self._clock() - began:.2f} s so far")

    def close(self) -> None:
        """Stops the trace."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
