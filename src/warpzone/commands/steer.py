"""`warpzone runs set`, `pause`, `resume`, `save`, `record`, `evaluate`, `stop`: steer a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Any, ClassVar

from warpzone.config.option import option, positional
from warpzone.errors import ConfigError, RunError
from warpzone.runs.steering import Action

_LOOK_SECONDS = 0.1


def run_argument() -> Any:
    """Declares the run to steer."""
    return positional(MISSING, "Folder of a run, or its name below the runs folder.", metavar="RUN")


def runs_option() -> Any:
    """Declares the folder in which run names are resolved."""
    return option("runs", "Folder in which run names are resolved.", metavar="FOLDER")


def wait_option() -> Any:
    """Declares how long to wait for the answer."""
    return option(
        60.0,
        "Seconds to wait until the run has executed the command, which happens between two "
        "updates; 0 does not wait.",
        at_least=0.0,
        at_most=86_400.0,
        metavar="SECONDS",
    )


@dataclass(frozen=True)
class RunsSet:
    """Change options of a run while it trains.

    Values are validated like those of the option, applied between two updates, logged in
    steering.jsonl and kept by an exact resume.

    Examples:
      warpzone runs set mario-1-1 learning-rate=3e-4
      warpzone runs set runs/mario-1-1 ent-coef=0.02 reward-time=0.01
      warpzone runs set mario-all level-share:1-2=3 level-share:1-1=0
    """

    run_name: str = run_argument()
    changes: tuple[str, ...] = positional(MISSING, "Options and values.", metavar="NAME=VALUE")
    runs: str = runs_option()
    wait: float = wait_option()

    def run(self) -> int:
        """Sends the changes."""
        texts = {}
        for change in self.changes:
            name, equals, text = change.partition("=")
            if not equals:
                raise ConfigError(f"{change!r} is not a change; write NAME=VALUE")
            texts[name.removeprefix("--")] = text
        return _steer(self.run_name, self.runs, "set", self.wait, texts)


@dataclass(frozen=True)
class _Simple:
    """Base class of commands without values."""

    action: ClassVar[Action]

    run_name: str = run_argument()
    runs: str = runs_option()
    wait: float = wait_option()

    def run(self) -> int:
        """Sends the command."""
        return _steer(self.run_name, self.runs, self.action, self.wait)


class RunsPause(_Simple):
    """Pause a run after its current update; its process keeps running.

    Examples:
      warpzone runs pause mario-1-1
    """

    action = "pause"


class RunsResume(_Simple):
    """Resume a paused run; to resume a run that has ended, use `warpzone train --resume`.

    Examples:
      warpzone runs resume mario-1-1
    """

    action = "resume"


class RunsSave(_Simple):
    """Write a checkpoint of a run now.

    Examples:
      warpzone runs save mario-1-1
    """

    action = "save"


class RunsRecord(_Simple):
    """Record a video of a run's current policy while training continues.

    Examples:
      warpzone runs record mario-1-1
    """

    action = "record"


class RunsEvaluate(_Simple):
    """Evaluate a run's current policy in another process while training continues.

    Plays 100 episodes of each level from its start, with sticky actions, as `warpzone eval` does.
    The result is appended to evaluations.jsonl, logged, and marked in the dashboard's charts.

    Examples:
      warpzone runs evaluate mario-1-1
    """

    action = "evaluate"


class RunsStop(_Simple):
    """Save and stop a run after its current update, like Ctrl-C.

    Examples:
      warpzone runs stop mario-1-1
    """

    action = "stop"


def _steer(
    word: str, runs: str, action: Action, wait: float, texts: Mapping[str, str] | None = None
) -> int:
    from warpzone.runs.directory import run_of
    from warpzone.runs.resume import resolve_run
    from warpzone.runs.steering import SteeringCommand, read_changes, send_command, sender

    changes = read_changes(texts or {})
    run = run_of(resolve_run(word, Path(runs)))
    command = SteeringCommand(action, sender("shell"), changes)
    send_command(run, command)
    outcome = _wait_for(run.path, command.name, wait)
    if outcome is None:
        print(f"{run.name} has not responded yet; it executes commands between two updates")
        return 0
    if outcome.get("error"):
        raise RunError(f"{run.name} rejected the command: {outcome['error']}")
    for path, (before, after) in outcome.get("changes", {}).items():
        print(f"{path}: {before} -> {after}, starting with update {outcome['update'] + 1}")
    if not changes:
        print(f"{run.name}: {action} after update {outcome['update']}")
    return 0


def _wait_for(run: Path, name: str, seconds: float) -> dict[str, Any] | None:
    import time

    from warpzone.runs.directory import RunDirectory
    from warpzone.runs.steering import find_outcome

    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        outcome = find_outcome(RunDirectory(run), name)
        if outcome is not None:
            return outcome
        time.sleep(_LOOK_SECONDS)
    return None
