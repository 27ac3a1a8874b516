"""Jobs of campaigns and sweeps on a Ray cluster; skipped where Ray is not installed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from warpzone.cluster.ray_session import connected_ray, set_local_variables
from warpzone.errors import ClusterError
from warpzone.system.signals import StopRequest
from warpzone.system.workers import Job, Workers, run_jobs

set_local_variables()
pytest.importorskip("ray", reason="Ray is not installed; `make cluster-test` installs it")

# Ray gives up if its processes do not start within seconds, which a busy machine cannot promise.
pytestmark = pytest.mark.slow

# Writes the process's number, then does what the test says.
PROGRAM = """
import os, sys, time
from warpzone.system.workers import stop_with_parent

stop_with_parent()
with open(sys.argv[2], "a") as out:
    out.write(f"{os.getpid()}\\n")
starts = len(open(sys.argv[2]).read().split())
if sys.argv[1] == "wait" or (sys.argv[1] == "wait-once" and starts == 1):
    time.sleep(600)
sys.exit(int(sys.argv[1] == "fail"))
"""


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with connected_ray(None):
        from warpzone.cluster.ray_workers import RayWorkers

        yield RayWorkers(jobs=2)


@pytest.fixture
def make_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Job]:
    (tmp_path / "ray_job.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)  # `python -m` finds modules of the working directory.

    def make(name: str, what: str) -> Job:
        return Job(name, "ray_job", (what, f"{name}.pids"), Path("logs") / f"{name}.txt")

    return make


def pids(job: Job) -> list[int]:
    file = Path(job.arguments[1])
    return [int(word) for word in file.read_text().split()] if file.exists() else []


def run_all(jobs: list[Job], workers: Workers, stop: StopRequest) -> dict[str, int]:
    codes: dict[str, int] = {}
    left = list(jobs)
    run_jobs(
        workers,
        next_job=lambda: left.pop(0) if left else None,
        ended=lambda job, code: codes.update({job.name: code}),
        report=lambda _: None,
        stop=stop,
    )
    return codes


def test_jobs_run_in_the_working_directory_and_return_their_exit_codes(
    workers: Workers, make_job: Callable[[str, str], Job]
) -> None:
    jobs = [make_job("a", "end"), make_job("b", "fail"), make_job("c", "end")]
    assert run_all(jobs, workers, StopRequest()) == {"a": 0, "b": 1, "c": 0}
    assert [len(pids(job)) for job in jobs] == [1, 1, 1]
    assert all(job.log.exists() for job in jobs)


def test_a_job_whose_actor_is_killed_ends_and_runs_again(
    workers: Workers, make_job: Callable[[str, str], Job]
) -> None:
    job = make_job("a", "wait-once")
    workers.start(job)
    while not pids(job):
        time.sleep(0.1)
    worker = psutil.Process(pids(job)[0])
    actor = worker.parent()
    assert actor is not None
    os.kill(actor.pid, signal.SIGKILL)
    assert run_all([], workers, StopRequest()) == {"a": 0}
    assert len(pids(job)) == 2
    psutil.wait_procs([worker], timeout=60)
    assert not worker.is_running()


def test_a_stop_ends_jobs_that_run_and_jobs_that_wait_for_a_machine(
    workers: Workers, make_job: Callable[[str, str], Job]
) -> None:
    # More jobs than the cluster has CPUs for.
    jobs = [make_job(str(number), "wait") for number in range(workers.jobs * workers.threads + 3)]
    for job in jobs:
        workers.start(job)
    while not pids(jobs[0]):
        time.sleep(0.1)
    workers.stop()
    assert workers.running == 0
    assert not any(psutil.pid_exists(pid) for job in jobs for pid in pids(job))


def test_a_folder_that_a_machine_does_not_have_is_named(
    workers: Workers, make_job: Callable[[str, str], Job], tmp_path: Path
) -> None:
    job = make_job("a", "end")
    elsewhere = Job(job.name, job.module, job.arguments, tmp_path / "no" / "such" / "log.txt")
    with pytest.raises(ClusterError, match="need folders that all machines of the cluster share"):
        run_all([elsewhere], workers, StopRequest())
