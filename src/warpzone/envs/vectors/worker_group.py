"""All workers of a vector: started in order, asked together, replaced when they die."""

from __future__ import annotations

import logging
import multiprocessing
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gymnasium import spaces

from warpzone.envs.vectors.options import WorkerOptions
from warpzone.envs.vectors.patience import Patience
from warpzone.envs.vectors.worker import FAILED, GO, WorkerTask
from warpzone.envs.vectors.worker_process import Failure, Worker, gather
from warpzone.errors import WorkerError

_log = logging.getLogger(__name__)

Spaces = tuple[spaces.Space[Any], spaces.Space[Any]]

# Seeds of replacements lie so far from those of the environments that none is used twice.
_SEED_STRIDE = 2**32
_CLOSE_SECONDS = 10.0


class WorkerGroup:
    """Worker processes that each hold one environment."""

    def __init__(
        self,
        makers: Sequence[Callable[[], Any]],
        env_spaces: Spaces | None,
        shared_memory: Any,
        autoreset_mode: Any,
        options: WorkerOptions,
    ) -> None:
        """Prepares everything but the processes, which `start_all` starts.

        Args:
            makers: Make the environments; called in the workers.
            env_spaces: What every environment must have; None takes those of the first.
            shared_memory: Where observations go, as Gymnasium makes it; None for the pipes.
            autoreset_mode: Gymnasium's.
            options: How workers are started and watched.
        """
        self.workers: list[Worker] = []
        self.env_spaces = env_spaces
        self._makers = makers
        self._shared_memory = shared_memory
        self._autoreset_mode = autoreset_mode
        self._options = options
        self._context = multiprocessing.get_context(options.method)
        self._replaced = 0
        self._folder = options.folder or Path(tempfile.mkdtemp(prefix="warpzone-workers-"))
        self._folder.mkdir(parents=True, exist_ok=True)
        # Also at the exit of a program that never closes its environments.
        self._remove_logs = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        if options.folder is not None:
            self._keep_logs()

    @property
    def limit(self) -> float:
        """Seconds that the start, a reset or a step may take."""
        return self._options.limit(len(self._makers))

    # The start: all import at the same time, then each in turn builds its environment.

    def start_all(self) -> None:
        """Starts every worker.

        Raises:
            WorkerError: A worker failed; `end` must still be called for the others.
        """
        patience = Patience(self.limit)
        for index in range(len(self._makers)):
            if index:
                time.sleep(self._options.delay)
            self.workers.append(self._process(index))
        for index in range(len(self._makers)):
            self._bring_up(index, patience)

    def restart(self, index: int) -> None:
        """Puts a new worker in the place of one that is gone."""
        self.workers[index].end()
        self.workers[index] = self._process(index)
        self._bring_up(index, Patience(self.limit))

    def _process(self, index: int) -> Worker:
        task = WorkerTask(
            index,
            self._makers[index],
            self._shared_memory,
            self._autoreset_mode,
            self._folder / f"worker-{index}.jsonl",
        )
        return Worker(self._context, task)

    def _bring_up(self, index: int, patience: Patience) -> None:
        """Lets a worker build its environment; one that dies of it is replaced."""
        while True:
            failure = self._wait_for(index, "import", patience)
            if failure is None:
                self.workers[index].send(GO)
                failure = self._wait_for(index, "build", patience)
            if failure is None:
                return
            # One that took too long would do so again, and its limit is the caller's patience.
            if failure.kind == "late" or not self._may_replace(failure):
                self._keep_logs()
                raise self._error([failure])
            self.workers[index] = self._process(index)

    def _wait_for(self, index: int, stage: str, patience: Patience) -> Failure | None:
        worker = self.workers[index]
        failure = self._watch_later_ones(worker, patience)
        if failure is not None:
            return failure
        answers, failures = gather([worker], stage, self.limit, patience)
        if failures:
            return failures[0]
        answer = answers[index]
        if answer[0] == FAILED:
            return worker.failed(stage, answer[1])
        if stage == "build":
            self.env_spaces = self.env_spaces or answer[1]
            if answer[1] != self.env_spaces:
                return worker.failed(stage, f"other spaces than the first worker's: {answer[1]}")
        return None

    def _watch_later_ones(self, worker: Worker, patience: Patience) -> Failure | None:
        """Until a worker says something: those that die before their turn are reported at once."""
        others = {later.process.sentinel: later for later in self.workers[worker.index + 1 :]}
        while others:
            ready = patience.wait([worker.pipe, *others])
            if not ready or worker.pipe in ready:
                return None
            for sentinel in ready:
                other = others.pop(sentinel)
                failure = other.died("import")
                if not self._may_replace(failure):
                    return failure
                self.workers[other.index] = self._process(other.index)
        return None

    # Questions, answers, and their absence.

    def lost(self) -> list[int]:
        """Workers that are gone and were not replaced."""
        return [worker.index for worker in self.workers if not worker.alive]

    def send(self, messages: Sequence[Any]) -> None:
        """Sends each worker its message.

        Raises:
            WorkerError: A worker was given up earlier.
        """
        given_up = [worker.index for worker in self.workers if worker.pipe.closed]
        if given_up:
            names = ", ".join(map(str, given_up))
            raise WorkerError(f"worker {names} is lost; `reset` starts it anew")
        for worker, message in zip(self.workers, messages, strict=True):
            worker.send(message)  # If the worker is gone, its answer will be missing.

    def answers(self, stage: str, seconds: float | None = None) -> dict[int, Any]:
        """Waits for the answers of all workers.

        Returns:
            Answers by worker. One that is missing belongs to a worker that is lost and may be
            replaced.

        Raises:
            WorkerError: An environment raised an error, or no replacements are left.
        """
        seconds = self.limit if seconds is None else seconds
        replies, failures = gather(self.workers, stage, seconds)
        answers = {}
        for index, (answer, success) in replies.items():
            if success:
                answers[index] = answer
            else:
                failures.append(self.workers[index].failed(stage))
        given_up = [failure for failure in failures if not self._may_replace(failure)]
        if given_up:
            raise self._error(failures)
        return answers

    def replace(self, index: int, seed: int | None) -> tuple[Any, dict[str, Any]]:
        """Puts a new worker in the place of a lost one and begins an episode in it."""
        self.restart(index)
        if seed is not None:
            seed += _SEED_STRIDE * self._replaced
        worker = self.workers[index]
        worker.send(("reset", {"seed": seed, "options": None}))
        replies, failures = gather([worker], "reset", self.limit)
        if not failures and not replies[index][1]:
            failures = [worker.failed("reset")]
        if failures:
            self._keep_logs()
            raise self._error(failures)
        return replies[index][0]  # type: ignore[no-any-return]

    def _may_replace(self, failure: Failure) -> bool:
        """Whether to continue without a worker's answer; logs it if so.

        An error that an environment raised is not retried: a new worker would only repeat it.
        """
        self._keep_logs()
        if failure.kind == "raised" or self._replaced >= self._options.replacements:
            return False
        self._replaced += 1
        _log.warning("%s; it is replaced", failure)
        return True

    def _keep_logs(self) -> None:
        """Leaves the logs in place: they are the caller's, or show what went wrong."""
        self._remove_logs.detach()

    def _error(self, failures: list[Failure]) -> WorkerError:
        return WorkerError(f"of {len(self._makers)} workers, " + "; ".join(map(str, failures)))

    def end(self, ask: bool, seconds: float | None = None) -> None:
        """Ends every worker.

        Args:
            ask: Let each close its environment first, for as long as `seconds`.
            seconds: 10 without a number.
        """
        if ask:
            asked = [worker for worker in self.workers if worker.alive and worker.ask_to_close()]
            until = time.monotonic() + (_CLOSE_SECONDS if seconds is None else seconds)
            gather(asked, "close", max(0.0, until - time.monotonic()))
            for worker in asked:
                worker.process.join(max(0.0, until - time.monotonic()))
        for worker in self.workers:
            worker.end()
        self._remove_logs()
