"""Training of several runs of a campaign at the same time, each in a worker process."""

from __future__ import annotations

from collections.abc import Sequence

from warpzone.campaign.campaign import Campaign, Step
from warpzone.errors import ScoreboardError
from warpzone.system.signals import StopRequest
from warpzone.system.workers import Job, Workers, last_line_of, run_jobs

LOGS = "logs"
# When the first runs all fail, so will the others.
_FAILURES = 3


class ParallelTraining:
    """Gives the steps of a campaign to workers; a run that fails does not end the others."""

    def __init__(
        self, campaign: Campaign, workers: Workers, *, module: str, arguments: Sequence[str]
    ) -> None:
        """Starts nothing yet.

        Args:
            campaign: The campaign.
            workers: Where runs are trained.
            module: The worker's module; its first arguments are the folder, the run and the round.
            arguments: Other arguments of the worker.
        """
        self._campaign, self._workers = campaign, workers
        self._module, self._arguments = module, arguments
        self._busy: dict[str, Step] = {}
        self._failed: dict[str, str] = {}
        self._finished = 0

    def run(self, stop: StopRequest) -> None:
        """Trains whatever is not finished, or until a stop is requested.

        Raises:
            ScoreboardError: Runs have failed; the others were trained.
        """
        run_jobs(
            self._workers,
            next_job=self._next_job,
            ended=self._end,
            report=self._campaign.report,
            stop=stop,
        )
        if self._failed and not stop:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in self._failed.items())
            raise ScoreboardError(
                f"{len(self._failed)} of the campaign's runs failed ({reasons}); the same command "
                "tries them again"
            )

    def _next_job(self) -> Job | None:
        if len(self._failed) >= _FAILURES and not self._finished:
            return None
        step = self._campaign.next_step(self._busy, self._failed)
        if step is None:
            return None
        self._campaign.announce(step)
        folder, name = self._campaign.folder, step.task.name
        self._busy[name] = step
        # A distillation runs alone, since it waits for all others.
        threads = self._workers.threads * (self._workers.jobs if step.task.kind == "distill" else 1)
        arguments = [str(folder), name, str(step.number), "--threads", str(threads)]
        log = folder / LOGS / f"{name}.txt"
        return Job(name, self._module, (*arguments, *self._arguments), log)

    def _end(self, job: Job, code: int) -> None:
        step = self._busy.pop(job.name)
        if code == 0:
            self._finished += 1
            self._campaign.record(step)
            return
        reason = last_line_of(job.log) if code > 0 else f"ended by signal {-code}"
        self._failed[job.name] = reason or f"exit code {code}"
        self._campaign.report(f"{job.name} failed: {self._failed[job.name]}; see {job.log}")
