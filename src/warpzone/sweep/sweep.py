"""A sweep: proposes trials, runs them in worker processes, and survives being killed.

The journal is the only record. A trial that has not ended there is continued, by the same worker
code that started it; every other trial is never touched again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from warpzone.errors import SweepError
from warpzone.runs.directory import CONFIG_FILE, check_folder_name
from warpzone.runs.lock import run_lock
from warpzone.sweep.files import SweepFolder, SweepPlan, write_plan
from warpzone.sweep.show import parameters_text, trial_line
from warpzone.sweep.study import ERROR, SweepStudy, open_study
from warpzone.system.signals import StopRequest, handle_signals
from warpzone.system.workers import Job, Workers, run_jobs

Report = Callable[[str], None]
"""Shows a line."""

_WORKER = "warpzone.sweep.worker"
# When the first trials all fail, so will the others.
_FAILURES = 3


def run_sweep(
    path: Path,
    plan: SweepPlan,
    *,
    resume: bool,
    plugins: Sequence[str],
    report: Report,
    workers: Workers,
) -> StopRequest:
    """Starts a sweep, or resumes it.

    Args:
        path: Folder of the sweep; created for a new sweep.
        plan: What is asked for.
        resume: Whether the sweep exists already.
        plugins: Plug-ins that workers import.
        report: Shows a line.
        workers: Where trials run.

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
        Sweep(folder, study, plugins, report).run(workers, stop)
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
        self._numbers: dict[str, int] = {}
        self._unfinished = deque(
            trial.number for trial in study.trials() if not trial.state.is_finished()
        )

    def run(self, workers: Workers, stop: StopRequest) -> None:
        """Runs the remaining trials, or until a stop is requested.

        Args:
            workers: Where trials run.
            stop: Ends the sweep; unfinished trials are continued when it is resumed.

        Raises:
            SweepError: The first trials have all failed.
        """
        run_jobs(
            workers,
            next_job=lambda: self._next_job(workers.threads),
            ended=self._judge,
            report=self._report,
            stop=stop,
        )

    def _next_job(self, threads: int) -> Job | None:
        number = self._next()
        if number is None:
            return None
        log = self._folder.log(number)
        parameters = parameters_text(self._study.trial(number).params)
        verb = "continues" if log.exists() else "starts"
        self._report(f"trial {number} of {self._options.trials} {verb}: {parameters}")
        arguments = [str(self._folder.path), str(number), "--threads", str(threads)]
        arguments += [f"--plugin={plugin}" for plugin in self._plugins]
        job = Job(f"trial {number}", _WORKER, tuple(arguments), log)
        self._numbers[job.name] = number
        return job

    def _next(self) -> int | None:
        """Returns the trial to start next; None when all have started."""
        if self._unfinished:
            number = self._unfinished.popleft()
            self._study.complete(number, self._seed)
            return number
        if len(self._study.trials()) >= self._options.trials:
            return None
        return self._study.ask(self._seed)

    def _judge(self, job: Job, code: int) -> None:
        """Takes note of a worker that has ended."""
        number = self._numbers[job.name]
        if not self._study.trial(number).state.is_finished():
            self._study.fail(number, f"its process ended with exit code {code}; see {job.log}")
        self._report(trial_line(self._study.trial(number), self._options))
        self._refuse_hopeless()

    def _refuse_hopeless(self) -> None:
        finished = [trial for trial in self._study.trials() if trial.state.is_finished()]
        failed = [trial for trial in finished if trial.state.name == "FAIL"]
        if len(failed) >= _FAILURES and len(failed) == len(finished):
            reason = failed[-1].user_attrs.get(ERROR, "unknown")
            raise SweepError(
                f"all {len(failed)} trials so far have failed, the last with: {reason}"
            )
