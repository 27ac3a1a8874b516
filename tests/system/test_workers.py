"""Worker processes: kept busy, started again after a signal, and ended together."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from warpzone.system.signals import StopRequest
from warpzone.system.workers import Job, LocalWorkers, last_line_of, run_jobs

# Writes the process's number, then does what the test says.
PROGRAM = """
import os, signal, sys, time
from pathlib import Path
from warpzone.system.workers import stop_with_parent

def main():
    stop_with_parent()
    what, file = sys.argv[1], Path(sys.argv[2])
    starts = len(file.read_text().split()) if file.exists() else 0
    with file.open("a") as out:
        out.write(f"{os.getpid()}\\n")
    if what == "wait":
        time.sleep(600)
    if what == "killed-once" and starts == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "fail":
        sys.exit("error: there is no such level")

main()
"""


@pytest.fixture
def make_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Job]:
    (tmp_path / "scripted_job.py").write_text(PROGRAM)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def make(name: str, what: str) -> Job:
        file = str(tmp_path / f"{name}.pids")
        return Job(name, "scripted_job", (what, file), tmp_path / "logs" / f"{name}.txt")

    return make


def run_all(
    jobs: list[Job],
    workers: LocalWorkers,
    stop: StopRequest | None = None,
    on_poll: Callable[[], None] = lambda: None,
) -> dict[str, int]:
    """Runs jobs in their order and returns their exit codes."""
    codes: dict[str, int] = {}
    left = list(jobs)

    def next_job() -> Job | None:
        on_poll()
        return left.pop(0) if left else None

    run_jobs(
        workers,
        next_job=next_job,
        ended=lambda job, code: codes.update({job.name: code}),
        report=lambda _: None,
        stop=StopRequest() if stop is None else stop,
    )
    return codes


def pids(job: Job) -> list[int]:
    file = Path(job.arguments[1])
    return [int(word) for word in file.read_text().split()] if file.exists() else []


def test_every_job_runs_once_and_its_exit_code_is_reported(
    make_job: Callable[[str, str], Job],
) -> None:
    jobs = [make_job("a", "end"), make_job("b", "fail"), make_job("c", "end")]
    assert run_all(jobs, LocalWorkers(2)) == {"a": 0, "b": 1, "c": 0}
    assert [len(pids(job)) for job in jobs] == [1, 1, 1]
    assert last_line_of(jobs[1].log) == "there is no such level"


def test_a_worker_that_a_signal_ended_starts_again_but_not_forever(
    make_job: Callable[[str, str], Job],
) -> None:
    jobs = [make_job("once", "killed-once"), make_job("always", "killed")]
    assert run_all(jobs, LocalWorkers(2)) == {"once": 0, "always": -signal.SIGKILL}
    assert [len(pids(job)) for job in jobs] == [2, 3]


def test_a_stop_ends_all_workers(make_job: Callable[[str, str], Job]) -> None:
    jobs = [make_job("a", "wait"), make_job("b", "wait")]
    stop, workers = StopRequest(), LocalWorkers(3)

    def stop_when_all_run() -> None:
        if all(pids(job) for job in jobs):
            stop.ask("Ctrl-C")

    assert run_all(jobs, workers, stop, stop_when_all_run) == {}
    assert not any(psutil.pid_exists(pid) for job in jobs for pid in pids(job))


def test_workers_end_when_their_parent_is_killed(make_job: Callable[[str, str], Job]) -> None:
    job = make_job("a", "wait")
    parent = os.fork()
    if parent == 0:
        workers = LocalWorkers(1)
        workers.start(job)
        while not pids(job):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(parent, 0)
    [worker] = pids(job)
    psutil.wait_procs([psutil.Process(worker)] if psutil.pid_exists(worker) else [], timeout=60)
    assert not psutil.pid_exists(worker)


def test_jobs_share_the_cores_and_each_has_at_least_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpzone.system.workers.processor_cores", lambda: 8)
    assert [LocalWorkers(jobs).threads for jobs in (1, 2, 3, 16)] == [8, 4, 2, 1]
