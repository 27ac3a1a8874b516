"""A Python module that runs beside a training run: one at a time, at the lowest priority."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import NamedTuple

_EXIT_SECONDS = 10.0
_THREAD_NICE = 15


class ProcessOutcome(NamedTuple):
    """How a process ended.

    Attributes:
        output: What it printed.
        error: The last line of its error output; None if it succeeded.
    """

    output: str
    error: str | None


class BackgroundProcess:
    """Runs a module with one thread in a process that shares no state with this one."""

    def __init__(self, module: str) -> None:
        """Starts nothing yet.

        Args:
            module: Name of the module, which is run like `python -m`.
        """
        self._module = module
        self._process: subprocess.Popen[str] | None = None

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended yet."""
        return self._process is not None and self._process.poll() is None

    def start(self, arguments: Sequence[str]) -> None:
        """Starts the process; call `take_outcome` for the previous one first."""
        assert self._process is None
        self._process = subprocess.Popen(
            [sys.executable, "-m", self._module, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            start_new_session=True,  # This process handles Ctrl-C and ends the other one itself.
        )

    def take_outcome(self) -> ProcessOutcome | None:
        """Waits for the end of the process and returns its outcome once; None if there is none."""
        process, self._process = self._process, None
        if process is None:
            return None
        output, errors = process.communicate()
        if process.returncode == 0:
            return ProcessOutcome(output, None)
        lines = errors.strip().splitlines()
        return ProcessOutcome(output, lines[-1] if lines else "no error message")

    def cancel(self) -> bool:
        """Ends the process if it is still running, and returns whether it was."""
        process = self._process
        if process is None or process.poll() is not None:
            return False
        process.send_signal(signal.SIGTERM if os.name == "nt" else signal.SIGINT)
        try:
            process.communicate(timeout=_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        self._process = None
        return True


def lower_priority() -> None:
    """Gives this process the lowest priority, so that training never waits for it."""
    import psutil

    if sys.platform == "win32":
        psutil.Process().nice(psutil.IDLE_PRIORITY_CLASS)
    else:
        psutil.Process().nice(19)


def lower_thread_priority() -> None:
    """Lowers the priority of this thread and of those that it starts, where threads have their own.

    Not to the lowest: a thread that holds Python's lock while others keep it from running delays
    the whole process.
    """
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _THREAD_NICE)
