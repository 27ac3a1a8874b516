"""Workers of a campaign or sweep on the machines of a Ray cluster."""

from __future__ import annotations

import signal
import socket
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayTaskError

from warpzone.cluster.losses import LOSSES
from warpzone.errors import ClusterError
from warpzone.system.workers import Job, close, launch

_ANSWER_SECONDS = 10.0  # Within which an actor that runs answers.
_SAVE_SECONDS = 300.0


class JobActor:
    """Runs one job in a process of its machine; the process ends with the actor."""

    def __init__(self) -> None:
        """Starts nothing yet."""
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def run(self, job: Job, folder: Path) -> int:
        """Runs the job and returns its exit code.

        Args:
            job: The job.
            folder: Its working directory.

        Raises:
            ClusterError: The folder does not exist on this machine.
        """
        if not folder.is_dir() or not job.log.parent.parent.is_dir():
            raise ClusterError(
                f"{job.log.parent.parent} or {folder} does not exist on {socket.gethostname()}; "
                "jobs need folders that all machines of the cluster share"
            )
        self._process = launch(job, folder)
        if self._stopped:
            self._process.terminate()
        code = self._process.wait()
        close(self._process)
        return code

    def stop(self) -> None:
        """Asks the job to save and end."""
        self._stopped = True
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()


@dataclass(frozen=True)
class _Running:
    job: Job
    actor: Any


class RayWorkers:
    """Runs jobs on any machine of the cluster that this process is connected to."""

    def __init__(self, jobs: int) -> None:
        """Starts nothing yet.

        Args:
            jobs: Number of jobs that may run at the same time; the CPUs of the cluster are divided
                between them.
        """
        self.jobs = jobs
        nodes = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
        self.threads = max(1, min(sum(nodes) // jobs, max(nodes, default=1)))
        self._calls: dict[Any, _Running] = {}

    @property
    def running(self) -> int:
        """Number of jobs that run now, or wait for a machine with free CPUs."""
        return len(self._calls)

    def start(self, job: Job) -> None:
        """Starts a job as soon as a machine has free CPUs."""
        options = {"num_cpus": self.threads, "max_restarts": 0, "max_concurrency": 2}
        actor = ray.remote(JobActor).options(**options, scheduling_strategy="SPREAD").remote()
        job_with_path = replace(job, log=job.log.absolute())
        self._calls[actor.run.remote(job_with_path, Path.cwd())] = _Running(job, actor)

    def take_ended(self) -> list[tuple[Job, int]]:
        """Returns jobs that have ended since the last call, with their exit codes.

        A job whose machine is lost counts as killed.

        Raises:
            ClusterError: A machine cannot run jobs at all.
        """
        if not self._calls:
            return []
        ready, _ = ray.wait(list(self._calls), num_returns=len(self._calls), timeout=0)
        ended = []
        for ref in ready:
            running = self._calls.pop(ref)
            try:
                code = ray.get(ref)
            except RayTaskError as error:
                raise ClusterError(f"{running.job.name} failed: {error.cause}") from error
            except LOSSES:
                code = -int(signal.SIGKILL)
            ray.kill(running.actor)
            ended.append((running.job, code))
        return ended

    def stop(self) -> None:
        """Asks all jobs to save and end, and waits until they have ended."""
        asked = {running.actor.stop.remote(): call for call, running in self._calls.items()}
        if asked:
            # An actor that still waits for a machine does not answer, and has nothing to save.
            heard, _ = ray.wait(list(asked), num_returns=len(asked), timeout=_ANSWER_SECONDS)
            calls = [asked[ref] for ref in heard]
            if calls:
                ray.wait(calls, num_returns=len(calls), timeout=_SAVE_SECONDS)
        for running in self._calls.values():
            ray.kill(running.actor)
        self._calls = {}
