"""Executes commands between updates: changed options, pause, save, record, evaluate, stop."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from warpzone.config import to_toml
from warpzone.errors import ConfigError, WarpzoneError
from warpzone.evaluation.background import BackgroundEvaluator
from warpzone.runs.directory import RunDirectory
from warpzone.runs.steering import (
    SteeringCommand,
    changed_config,
    steered_value,
    waiting_commands,
)
from warpzone.system.signals import StopRequest
from warpzone.telemetry.heartbeat import PAUSED, Heartbeat
from warpzone.telemetry.jsonl import JsonlSink
from warpzone.training.run_folder import RunFolder
from warpzone.training.saving import Saver
from warpzone.training.trainer import Trainer

_log = logging.getLogger(__name__)

_PAUSE_SECONDS = 0.2  # Between two checks for commands while paused.


class SteeringParts(NamedTuple):
    """Parts of a run that commands act on."""

    trainer: Trainer
    saver: Saver
    heartbeat: Heartbeat
    folder: RunFolder
    record: Callable[[Path], None] | None
    evaluator: BackgroundEvaluator


class Steering:
    """Executes commands from a run's folder; without any, a check costs one system call."""

    def __init__(self, run: RunDirectory, parts: SteeringParts) -> None:
        """Discards commands of an earlier session, except changes of options.

        A change that was not executed before a crash still applies; a pause or stop was meant for
        the earlier session.
        """
        self._run, self._parts = run, parts
        self._sink = JsonlSink(run.steering)
        self._paused = False
        self._seen: int | None = None
        for path, command in waiting_commands(run):
            if isinstance(command, str) or command.action != "set":
                self._finish(path, command, error="the session that it was meant for has ended")

    def poll(self, stop: StopRequest) -> None:
        """Executes waiting commands; while the run is paused, waits for more."""
        self._look(stop)
        while self._paused and not stop:
            self._parts.heartbeat.beat(PAUSED)
            time.sleep(_PAUSE_SECONDS)
            self._look(stop)

    def close(self) -> None:
        """Closes the log of commands."""
        self._sink.close()

    def _look(self, stop: StopRequest) -> None:
        self._parts.evaluator.poll()
        changed = _changed(self._run.commands)
        if changed is None or changed == self._seen:
            return
        waiting = waiting_commands(self._run)
        for path, command in waiting:
            if isinstance(command, str):
                self._finish(path, command, error=command)
                continue
            try:
                details = self._carry_out(command, stop)
            except WarpzoneError as error:
                self._finish(path, command, error=str(error))
            else:
                self._finish(path, command, **details)
        # Commands that arrive in the meantime, and removals, change the folder again.
        self._seen = None if waiting else changed

    def _carry_out(self, command: SteeringCommand, stop: StopRequest) -> dict[str, Any]:
        parts = self._parts
        if command.action == "set":
            return self._set(command)
        if command.action in ("pause", "resume"):
            self._paused = command.action == "pause"
        elif command.action == "stop":
            stop.ask(f"a command of {command.who}")
        elif command.action == "save":
            path = parts.saver.try_to_save()
            return {"checkpoint": None if path is None else path.name}
        elif command.action == "record":
            if parts.record is None:
                raise ConfigError("this run was started without a video recorder")
            path = parts.saver.try_to_save()
            if path is not None:
                parts.record(path)
        elif command.action == "evaluate":
            return self._evaluate(command)
        return {}

    def _evaluate(self, command: SteeringCommand) -> dict[str, Any]:
        """Saves the policy and evaluates it in another process."""
        parts = self._parts
        if parts.evaluator.is_running:
            raise ConfigError("an evaluation is still running; wait for its result")
        path = parts.saver.try_to_save()
        if path is None:
            raise ConfigError("the policy could not be saved, so it cannot be evaluated")
        trainer = parts.trainer
        facts = {
            "command": command.name,
            "who": command.who,
            "session": trainer.sessions,
            "update": trainer.updates,
            "steps": trainer.steps,
            "elapsed": trainer.elapsed,
        }
        parts.evaluator.start(path, facts)
        return {"checkpoint": path.name}

    def _set(self, command: SteeringCommand) -> dict[str, Any]:
        """Changes options and saves, so that a resumed run uses them from the same update on."""
        trainer, before = self._parts.trainer, self._parts.trainer.config
        after = changed_config(before, command.changes)
        trainer.reconfigure(after)
        self._parts.saver.forget()  # The current state may be saved with the old options.
        self._parts.saver.try_to_save()
        text = to_toml(after)
        self._run.write_config(text)
        self._parts.folder.set_config(text)
        return {
            "changes": {
                path: [steered_value(before, path), steered_value(after, path)]
                for path in command.changes
            }
        }

    def _finish(self, path: Path, command: SteeringCommand | str, **details: Any) -> None:
        """Logs the outcome of a command, then removes it; a crash in between repeats it."""
        trainer = self._parts.trainer
        action, who = ("", "") if isinstance(command, str) else (command.action, command.who)
        row = {
            "time": time.time(),
            "session": trainer.sessions,
            "update": trainer.updates,
            "steps": trainer.steps,
            "elapsed": trainer.elapsed,
            "command": path.stem,
            "action": action,
            "who": who,
            "changes": {},
            "error": None,
        } | details
        self._sink.write(row)
        _log.info("%s", _sentence(row))
        path.unlink(missing_ok=True)


def _changed(folder: Path) -> int | None:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return None


def _sentence(row: dict[str, Any]) -> str:
    who, action = row["who"] or "somebody", row["action"] or "an unreadable command"
    if row["error"] is not None:
        return f"{action} by {who} was rejected: {row['error']}"
    if row["changes"]:
        changes = ", ".join(f"{path} from {a} to {b}" for path, (a, b) in row["changes"].items())
        return f"{who} changed {changes}"
    return f"{action} by {who}"
