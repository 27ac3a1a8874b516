"""A worker as its parent sees it: a process, a pipe and a log."""

from __future__ import annotations

import atexit
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any, Literal

from gymnasium.vector.utils import CloudpickleWrapper

from warpzone.envs.vectors.patience import Patience
from warpzone.envs.vectors.worker import WorkerTask, run_worker, stacks_file
from warpzone.envs.vectors.worker_log import WorkerLog, last_error

# A process that was killed is gone at once; one that closes gets this long to do it.
_JOIN_SECONDS = 10.0
_STACKS_SECONDS = 0.5


FailureKind = Literal["died", "late", "raised"]


@dataclass(frozen=True)
class Failure:
    """Why a worker gave no answer.

    Attributes:
        worker: Its number.
        stage: What it was doing.
        reason: What happened to it.
        log: The file with the details.
        kind: It died, was too slow, or its environment raised an error.
    """

    worker: int
    stage: str
    reason: str
    log: Path
    kind: FailureKind

    def __str__(self) -> str:
        """For messages."""
        files = f"log: {self.log}"
        if self.kind == "late" and stacks_file(self.log).exists():
            files += f", stacks: {stacks_file(self.log)}"
        return f"worker {self.worker} {self.reason} in stage '{self.stage}' ({files})"


class Worker:
    """One worker process."""

    def __init__(self, context: BaseContext, task: WorkerTask) -> None:
        """Starts the process; it then waits for its turn to build the environment."""
        self.index, self.log = task.index, task.log
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(  # type: ignore[attr-defined]
            target=run_worker,
            name=f"warpzone-worker-{task.index}",
            args=(replace(task, make_env=CloudpickleWrapper(task.make_env)), theirs),
            daemon=True,
        )
        WorkerLog(self.log, self.index).write("import", "begin")
        with _stop_signals_blocked():
            self.process.start()
        theirs.close()
        # At the end of the program multiprocessing asks workers to stop, which they never hear, and
        # waits for them. What is registered later runs first.
        atexit.register(self.end)

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return not self.pipe.closed and not wait([self.process.sentinel], 0)

    def send(self, message: Any) -> bool:
        """Sends a message; False when the worker is gone."""
        try:
            self.pipe.send(message)
        except (OSError, ValueError):
            return False
        return True

    def died(self, stage: str) -> Failure:
        """What became of a worker whose pipe has ended."""
        self.process.join(_JOIN_SECONDS)
        code = self.process.exitcode
        if code is None:
            reason = "closed its pipe"
        elif code < 0:
            reason = f"was killed by {signal.Signals(-code).name}"
        else:
            reason = f"ended with exit code {code}"
        if stage == "import" and code == 1:
            # The usual cause; the traceback of a child is easily overlooked.
            reason += " (a script that starts processes needs `if __name__ == '__main__':`)"
        self.end()
        return self._failure(stage, reason, "died")

    def late(self, stage: str, seconds: float) -> Failure:
        """Ends a worker that has used up its time, after it has written its stacks."""
        if hasattr(signal, "SIGUSR1") and stage != "import" and self.process.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGUSR1)
            wait([self.process.sentinel], _STACKS_SECONDS)
        self.end()
        return self._failure(stage, f"took longer than {seconds:g} s", "late")

    def failed(self, stage: str, error: str | None = None) -> Failure:
        """What a worker's environment raised; the worker has ended itself."""
        self.end()
        reason = f"raised {error or last_error(self.log) or 'an error'}"
        return self._failure(stage, reason, "raised")

    def _failure(self, stage: str, reason: str, kind: FailureKind) -> Failure:
        WorkerLog(self.log, self.index).write(stage, "failure", reason=reason)
        return Failure(self.index, stage, reason, self.log, kind)

    def ask_to_close(self) -> bool:
        """Sends Gymnasium's command to end."""
        return self.send(("close", None))

    def end(self) -> None:
        """Makes sure that the process is gone."""
        if self.process.pid is not None and self.process.exitcode is None:
            self.process.kill()
        self.process.join(_JOIN_SECONDS)
        self.pipe.close()
        atexit.unregister(self.end)


def gather(
    workers: Sequence[Worker], stage: str, limit: float, patience: Patience | None = None
) -> tuple[dict[int, Any], list[Failure]]:
    """Waits until every worker has answered, has died, or has used up its time.

    Args:
        workers: Whose answers are due.
        stage: What they are doing, for messages.
        limit: Seconds that all of them together have.
        patience: What is left of them, where other stages have used some up.

    Returns:
        Answers by worker, and why the others gave none.
    """
    answers: dict[int, Any] = {}
    failures: list[Failure] = []
    waiting = {worker.pipe: worker for worker in workers}
    patience = patience or Patience(limit)
    while waiting:
        ready = patience.wait(list(waiting))
        if not ready:
            failures += [worker.late(stage, limit) for worker in waiting.values()]
            break
        for pipe in ready:
            worker = waiting.pop(pipe)
            try:
                answers[worker.index] = worker.pipe.recv()
            except (EOFError, OSError):
                failures.append(worker.died(stage))
    return answers, failures


@contextmanager
def _stop_signals_blocked() -> Iterator[None]:
    """A process started in here never receives a request to stop, only its parent does.

    Ctrl-C, a closed terminal and service managers signal the whole process group. The parent then
    ends its workers itself; they end on their own when it dies.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    stop_signals = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, stop_signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
