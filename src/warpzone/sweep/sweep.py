"""A sweep: proposes trials, runs them in worker processes, and survives being killed.

The journal is the only record. A trial that has not ended there is continued, by the same worker
code that started it; every other trial is never touched again.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from pathlib import Path

from warpzone.errors import SweepError
from warpzone.runs.directory import CONFIG_FILE, check_folder_name
from warpzone.runs.lock import run_lock
from warpzone.sweep.files import SweepFolder, SweepPlan, write_plan
from warpzone.sweep.show import parameters_text, trial_line
from warpzone.sweep.study import ERROR, SweepStudy, open_study
from warpzone.sweep.worker import EXIT_INTERRUPTED
from warpzone.sweep.workers import Worker, launch
from warpzone.system.cpu import processor_cores
from warpzone.system.signals import StopRequest, handle_signals

Report = Callable[[str], None]
"""Shows a line."""

_POLL_SECONDS = 0.1
# A worker that a signal has ended (such as the kernel's, when memory runs out) is started again.
_ATTEMPTS = 3
# When the first trials all fail, so will the others.
_FAILURES = 3


def run_sweep(
    path: Path, plan: SweepPlan, *, resume: bool, plugins: Sequence[str], report: Report
) -> StopRequest:
    """Starts a sweep, or resumes it.

    Args:
        path: Folder of the sweep; created for a new sweep.
        plan: What is asked for.
        resume: Whether the sweep exists already.
        plugins: Plug-ins that workers import.
        report: Shows a line.

    Returns:
        The request to stop, if there was one.

    Raises:
        SweepError: The folder is taken, or every trial fails.
        RunError: Another process runs this sweep.
    """
    check_folder_name(path)
    folder = SweepFolder(path)
    if not resume:
        _create(folder)
    with run_lock(path), handle_signals() as stop:
        write_plan(folder, plan)
        study = open_study(folder, plan, create=True)
        Sweep(folder, study, plugins, report).run(stop)
    return stop


def _create(folder: SweepFolder) -> None:
    path = folder.path
    if folder.file.exists():
        raise SweepError(
            f"{path} is a sweep already; `warpzone sweep --resume {path}` resumes it, or choose "
            "another folder with -o"
        )
    if (path / CONFIG_FILE).exists():
        raise SweepError(f"{path} is a run; give the sweep a folder of its own with -o")
    try:
        path.mkdir(parents=True, exist_ok=True)
        taken = any(path.iterdir())
    except OSError as error:
        raise SweepError(f"{path} cannot be created: {error.strerror}") from error
    if taken:
        raise SweepError(f"{path} is not empty; give the sweep a folder of its own with -o")


class Sweep:
    """Runs trials until all are done."""

    def __init__(
        self, folder: SweepFolder, study: SweepStudy, plugins: Sequence[str], report: Report
    ) -> None:
        """Reads which trials are unfinished; starts nothing yet.

        Args:
            folder: Folder of the sweep.
            study: Its trials.
            plugins: Plug-ins that workers import.
            report: Shows a line.
        """
        self._folder, self._study, self._report = folder, study, report
        self._plugins, self._options = plugins, study.plan.options
        self._seed = study.plan.explicit.get("run", {}).get("seed", 0)
        self._threads = max(1, processor_cores() // self._options.jobs)
        self._attempts: Counter[int] = Counter()
        self._workers: list[Worker] = []
        self._unfinished = deque(
            trial.number for trial in study.trials() if not trial.state.is_finished()
        )

    def run(self, stop: StopRequest) -> None:
        """Runs the remaining trials, or until a stop is requested.

        Raises:
            SweepError: The first trials have all failed.
        """
        try:
            while not stop:
                self._reap()
                while len(self._workers) < self._options.jobs:
                    number = self._next()
                    if number is None:
                        break
                    self._start(number)
                if not self._workers:
                    return
                time.sleep(_POLL_SECONDS)
        finally:
            self._stop_workers()

    def _next(self) -> int | None:
        """Returns the trial to start next; None when all have started."""
        if self._unfinished:
            number = self._unfinished.popleft()
            self._study.complete(number, self._seed)
            return number
        if len(self._study.trials()) >= self._options.trials:
            return None
        return self._study.ask(self._seed)

    def _start(self, number: int) -> None:
        again = self._folder.log(number).exists()
        parameters = parameters_text(self._study.trial(number).params)
        verb = "continues" if again else "starts"
        self._report(f"trial {number} of {self._options.trials} {verb}: {parameters}")
        self._attempts[number] += 1
        self._workers.append(launch(self._folder, number, self._threads, self._plugins))

    def _reap(self) -> None:
        """Takes note of workers that have ended."""
        ended = [worker for worker in self._workers if worker.process.poll() is not None]
        self._workers = [worker for worker in self._workers if worker not in ended]
        for worker in ended:
            self._close(worker)
            self._judge(worker.trial, worker.process.returncode)
        if ended:
            self._refuse_hopeless()

    def _judge(self, number: int, code: int) -> None:
        trial = self._study.trial(number)
        if not trial.state.is_finished():
            signalled = code < 0 or code == EXIT_INTERRUPTED
            if signalled and self._attempts[number] < _ATTEMPTS:
                self._unfinished.append(number)
                return
            log = self._folder.log(number)
            self._study.fail(number, f"its process ended with exit code {code}; see {log}")
            trial = self._study.trial(number)
        self._report(trial_line(trial, self._options))

    def _refuse_hopeless(self) -> None:
        finished = [trial for trial in self._study.trials() if trial.state.is_finished()]
        failed = [trial for trial in finished if trial.state.name == "FAIL"]
        if len(failed) >= _FAILURES and len(failed) == len(finished):
            reason = failed[-1].user_attrs.get(ERROR, "unknown")
            raise SweepError(
                f"all {len(failed)} trials so far have failed, the last with: {reason}"
            )

    def _stop_workers(self) -> None:
        for worker in self._workers:
            worker.stop()
        for worker in self._workers:
            worker.process.wait()
            self._close(worker)
        self._workers = []

    def _close(self, worker: Worker) -> None:
        if worker.process.stdin is not None:
            worker.process.stdin.close()
