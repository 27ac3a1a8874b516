"""Worker processes, one per job; they end with the process that started them.

A job is a Python module with arguments. Its standard input is a pipe from the parent. When the
parent ends, however it ends, the pipe is closed, and the worker saves its work and ends as well.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from warpzone.errors import WorkerError
from warpzone.system.cpu import processor_cores
from warpzone.system.os_errors import describe_os_error
from warpzone.system.signals import StopRequest

EXIT_INTERRUPTED = 3
"""Exit code of a worker that was asked to stop, and has saved."""
_POLL_SECONDS = 0.1
# A worker that a signal has ended (such as the kernel's, when memory runs out) is started again.
_ATTEMPTS = 3


@dataclass(frozen=True)
class Job:
    """Work for one process.

    Attributes:
        name: Name of the job, unique among the jobs of a program.
        module: Module to run, like `python -m`.
        arguments: Its arguments.
        log: File that its output is appended to.
    """

    name: str
    module: str
    arguments: tuple[str, ...]
    log: Path


class Workers(Protocol):
    """A place where jobs run, such as this machine.

    Attributes:
        jobs: Number of jobs that may run at the same time.
        threads: Threads that each of them may use.
    """

    jobs: int
    threads: int

    @property
    def running(self) -> int:
        """Number of jobs that run now."""

    def start(self, job: Job) -> None:
        """Starts a job."""

    def take_ended(self) -> list[tuple[Job, int]]:
        """Returns jobs that have ended since the last call, with their exit codes."""

    def stop(self) -> None:
        """Asks all jobs to save and end, and waits until they have ended."""


class LocalWorkers:
    """Runs jobs in processes of this machine, whose cores are divided between them."""

    def __init__(self, jobs: int) -> None:
        """Starts nothing yet.

        Args:
            jobs: Number of jobs that may run at the same time.
        """
        self.jobs = jobs
        self.threads = max(1, processor_cores() // jobs)
        self._processes: dict[Job, subprocess.Popen[bytes]] = {}

    @property
    def running(self) -> int:
        """Number of jobs that run now."""
        return len(self._processes)

    def start(self, job: Job) -> None:
        """Starts a job."""
        self._processes[job] = launch(job)

    def take_ended(self) -> list[tuple[Job, int]]:
        """Returns jobs that have ended since the last call, with their exit codes."""
        ended = [
            (job, code)
            for job, process in self._processes.items()
            if (code := process.poll()) is not None
        ]
        for job, _ in ended:
            close(self._processes.pop(job))
        return ended

    def stop(self) -> None:
        """Asks all jobs to save and end, and waits until they have ended."""
        for process in self._processes.values():
            if process.poll() is None:
                process.terminate()
        for process in self._processes.values():
            process.wait()
            close(process)
        self._processes = {}


def launch(job: Job, folder: Path | None = None) -> subprocess.Popen[bytes]:
    """Starts the process of a job.

    Args:
        job: The job.
        folder: Its working directory; that of this process by default.

    Raises:
        WorkerError: The log cannot be written.
    """
    try:
        job.log.parent.mkdir(exist_ok=True)
        log = job.log.open("ab")
    except OSError as error:
        raise WorkerError(
            f"{job.log} cannot be written ({describe_os_error(error)}); check the folder"
        ) from error
    with log:
        return subprocess.Popen(
            [sys.executable, "-m", job.module, *job.arguments],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            # Ctrl-C reaches the parent alone, which then stops its workers.
            start_new_session=os.name == "posix",
        )


def close(process: subprocess.Popen[bytes]) -> None:
    """Closes the pipe to a process, which asks it to end if it has not."""
    if process.stdin is not None:
        process.stdin.close()


def stop_with_parent() -> None:
    """Lets this worker receive SIGTERM as soon as its parent has ended."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    # Not through a buffered reader, whose lock the interpreter would want at its end.
    while os.read(sys.stdin.fileno(), 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def run_jobs(
    workers: Workers,
    *,
    next_job: Callable[[], Job | None],
    ended: Callable[[Job, int], None],
    report: Callable[[str], None],
    stop: StopRequest,
) -> None:
    """Keeps all workers busy until no job is left, or a stop is requested.

    Args:
        workers: Where jobs run.
        next_job: Returns the job to start next; None when there is none, or none yet.
        ended: Called with each job that has ended, and its exit code. A job that a signal has
            ended is started again before it counts as ended.
        report: Shows a line.
        stop: Ends all jobs, which save their work.
    """
    attempts: Counter[str] = Counter()
    again: deque[Job] = deque()
    try:
        while not stop:
            for job, code in workers.take_ended():
                signalled = code < 0 or code == EXIT_INTERRUPTED
                if signalled and attempts[job.name] < _ATTEMPTS:
                    report(f"{job.name}: its process was ended from outside and starts again")
                    again.append(job)
                else:
                    ended(job, code)
            while workers.running < workers.jobs:
                job_to_start = again.popleft() if again else next_job()
                if job_to_start is None:
                    break
                attempts[job_to_start.name] += 1
                workers.start(job_to_start)
            if not workers.running:
                return
            time.sleep(_POLL_SECONDS)
    finally:
        workers.stop()


def last_line_of(log: Path) -> str:
    """Returns the last line of a worker's log, which is its error if it failed."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 4096))
            lines = file.read().decode(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1].removeprefix("error: ") if lines else ""
