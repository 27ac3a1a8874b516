"""What runs inside a worker process: one environment, answering Gymnasium's commands."""

from __future__ import annotations

import faulthandler
import inspect
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from gymnasium.vector.async_vector_env import _async_worker

from warpzone.envs.vectors.worker_log import WorkerLog

#: Messages of a start: the worker sends the first, receives the second, and sends the third.
WAITING, GO, READY, FAILED = "waiting", "go", "ready", "failed"


@dataclass(frozen=True)
class WorkerTask:
    """What a worker is for; sent to it as it starts.

    Attributes:
        index: Its number.
        make_env: Makes its environment.
        shared_memory: Where observations go, as Gymnasium makes it; None for the pipe.
        autoreset_mode: Gymnasium's.
        log: The file in which it records what it is doing.
    """

    index: int
    make_env: Callable[[], Any]
    shared_memory: Any
    autoreset_mode: Any
    log: Path


def stacks_file(log: Path) -> Path:
    """Where a worker's stacks go when it crashes, or is asked for them."""
    return log.with_suffix(".stacks.txt")


def run_worker(task: WorkerTask, pipe: Connection) -> None:
    """Builds the environment when its turn comes, then answers until it is asked to close."""
    _ignore_stop_signals()
    log = WorkerLog(task.log, task.index)
    log.write("import", "end")
    _watch_parent()
    with stacks_file(task.log).open("a") as stacks:
        faulthandler.enable(stacks)
        if hasattr(faulthandler, "register"):
            faulthandler.register(signal.SIGUSR1, stacks)
        env = _build(task.make_env, pipe, log)
        if env is not None:
            _serve(task, Watched(env, log), pipe, log)


def _build(make_env: Callable[[], Any], pipe: Connection, log: WorkerLog) -> Any:
    pipe.send(WAITING)
    if pipe.recv() != GO:
        return None
    try:
        with log.stage("build"):
            env = make_env()
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent must learn of it
        pipe.send((FAILED, f"{type(error).__name__}: {error}"))
        return None
    pipe.send((READY, (env.observation_space, env.action_space)))
    return env


def _serve(task: WorkerTask, env: Watched, pipe: Connection, log: WorkerLog) -> None:
    """Gymnasium's own loop, whose older versions take no semaphore."""
    arguments: list[Any] = [task.index, lambda: env, pipe, _Nothing(), task.shared_memory]
    arguments += [_ErrorLog(log), task.autoreset_mode, None]
    try:
        _async_worker(*arguments[: len(inspect.signature(_async_worker).parameters)])
    except (EOFError, OSError):
        log.write("serve", "end", error="the parent is gone")


def _ignore_stop_signals() -> None:
    """Leaves requests to stop to the parent, also where a fork server has unblocked them."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)


def _watch_parent() -> None:
    """A worker whose parent is gone ends, whatever it is doing."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class _Nothing:
    """Gymnasium's loop closes the parent's end of the pipe, which this process never had."""

    def close(self) -> None:
        """Does nothing."""


class _ErrorLog:
    """Takes the place of a queue between processes: an error goes to the log, without a lock."""

    def __init__(self, log: WorkerLog) -> None:
        self._log = log

    def put(self, error: tuple[int, type[BaseException], BaseException, str]) -> None:
        """Writes the error of an environment."""
        _, kind, value, trace = error
        self._log.write("serve", "error", error=f"{kind.__name__}: {value}", traceback=trace)


class Watched:
    """An environment whose resets and first step are logged."""

    def __init__(self, env: Any, log: WorkerLog) -> None:
        """Takes an environment."""
        self._env, self._log = env, log
        self._stepped = False

    def __getattr__(self, name: str) -> Any:
        """Everything else is the environment's."""
        return getattr(self._env, name)

    def reset(self, **options: Any) -> Any:
        """Resets; every one is logged until the first step, since a start goes so far."""
        if self._stepped:
            return self._env.reset(**options)
        with self._log.stage("reset"):
            return self._env.reset(**options)

    def step(self, action: Any) -> Any:
        """Steps; only the first is logged."""
        if self._stepped:
            return self._env.step(action)
        with self._log.stage("step"):
            result = self._env.step(action)
        self._stepped = True
        return result

    def close(self) -> None:
        """Closes."""
        with self._log.stage("close"):
            self._env.close()
