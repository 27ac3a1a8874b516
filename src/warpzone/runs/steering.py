"""Steering a run from outside: commands are files in its folder, which its loop takes one by one.

A command appears under its name complete or not at all, and is removed once it has been carried
out, so neither side waits for the other and several senders need no lock. What became of each is a
line of `steering.jsonl`.
"""

from __future__ import annotations

import getpass
import json
import secrets
import socket
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from warpzone.config import Partial, TrainConfig, overlaid, train_options
from warpzone.config.option import Option
from warpzone.config.values import read_text, suggestion
from warpzone.errors import ConfigError, RunError
from warpzone.runs.directory import RunDirectory
from warpzone.runs.level_shares import level_shares, parse_share, shares_apply, with_level_share
from warpzone.runs.levels import trained_levels
from warpzone.runs.listing import summarize_run
from warpzone.system.atomic_file import is_temporary, write_text_atomically
from warpzone.system.json_file import entry, read_json
from warpzone.system.os_errors import describe_os_error
from warpzone.telemetry.heartbeat import PAUSED, RUNNING, STALLED
from warpzone.telemetry.reading import Row, read_lines

Action = Literal["set", "pause", "resume", "save", "record", "evaluate", "stop"]
ACTIONS: tuple[Action, ...] = get_args(Action)

_STEERABLE_LEARNING = (
    *("learning_rate", "lr_final_factor", "lr_success_factor", "ent_coef", "ent_coef_at_success"),
    *("ent_coef_fade", "clip_coef", "vf_coef", "gae_lambda", "epochs", "target_kl"),
    "max_grad_norm",
)
_STEERABLE_RUN = ("steps", "stop_at_clear_rate")
_LEVEL_SHARE = "level-share:"
_LEVEL_SHARES_PATH = "env.level_shares"
_LARGEST_COMMAND = 64 * 1024
_MOST_WAITING = 100


@dataclass(frozen=True)
class SteeringCommand:
    """What somebody asks a run to do.

    Attributes:
        action: One of `ACTIONS`.
        who: User and machine, and how the command was given.
        changes: For 'set': options by their dotted names, or level shares, with their new values as
            text.
        name: Identifies the command; names sort by time.
        time: Unix seconds.
    """

    action: Action
    who: str
    changes: Mapping[str, str] = field(default_factory=dict)
    name: str = field(default_factory=lambda: f"{time.time_ns():020d}-{secrets.token_hex(4)}")
    time: float = field(default_factory=time.time)


def steerable_options() -> tuple[Option, ...]:
    """The options that can change while a run trains."""
    names = {
        *(f"learn.{name}" for name in _STEERABLE_LEARNING),
        *(f"run.{name}" for name in _STEERABLE_RUN),
    }
    return tuple(
        option
        for option in train_options()
        if option.path in names or (option.table == "reward" and option.name != "kind")
    )


def read_changes(texts: Mapping[str, str]) -> dict[str, str]:
    """Checks new values as the command line does.

    Args:
        texts: Options by flag ('learning-rate') or dotted name ('learn.learning_rate'), and shares
            of levels ('level-share:1-2').

    Returns:
        The same by dotted name.

    Raises:
        ConfigError: An option is unknown or cannot change while a run trains, or a value is not
            allowed.
    """
    changes = {}
    for word, text in texts.items():
        level = shared_level(word)
        if level is not None:
            parse_share(text, level)
            changes[word] = text
            continue
        option = _find_option(word)
        read_text(option, text, option.flag)
        changes[option.path] = text
    return changes


def changed_config(config: TrainConfig, changes: Mapping[str, str]) -> TrainConfig:
    """The configuration with new values.

    Raises:
        ConfigError: They are not allowed, or do not fit together.
    """
    tree: dict[str, dict[str, Any]] = {}
    for path, text in changes.items():
        level = shared_level(path)
        if level is not None:
            config = replace(config, env=with_level_share(config.env, level, text))
            continue
        option = _find_option(path)
        tree.setdefault(option.table, {})[option.name] = read_text(option, text, option.flag)
    partial: Partial = tree
    changed = overlaid(config, partial)
    changed.verify()
    return changed


def shared_level(word: str) -> str | None:
    """The level in a name such as 'level-share:1-2'; None for names of options."""
    return word.removeprefix(_LEVEL_SHARE) if word.startswith(_LEVEL_SHARE) else None


def level_share_names(config: TrainConfig) -> list[str]:
    """Names of the level shares that can change while a run trains; none for most runs."""
    if not shares_apply(config.env):
        return []
    return [_LEVEL_SHARE + level for level in trained_levels(config.env)]


def steered_value(config: TrainConfig, path: str) -> Any:
    """The value of a steerable option or level share, as plain data."""
    level = shared_level(path)
    if level is not None:
        return level_shares(config.env).get(level, 1.0)
    table, _, name = path.partition(".")
    value = getattr(getattr(config, table), name)
    return list(value) if isinstance(value, tuple) else value


def _find_option(word: str) -> Option:
    known = {option.flag: option for option in steerable_options()}
    known |= {option.path: option for option in steerable_options()}
    if word in known:
        return known[word]
    if word in ("level-shares", _LEVEL_SHARES_PATH):
        raise ConfigError(f"{word} changes level by level; write {_LEVEL_SHARE}1-2=3")
    if any(word in (option.flag, option.path, option.keyword) for option in train_options()):
        flags = ", ".join(option.flag for option in steerable_options())
        raise ConfigError(f"{word} cannot change while a run trains; these options can: {flags}")
    raise ConfigError(f"there is no option {word}{suggestion(word, known)}")


def sender(how: str) -> str:
    """Who gives a command: user, machine and how.

    Args:
        how: Such as 'shell' or 'dashboard'.
    """
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # A user without a name, as in some containers.
        user = "unknown"
    return f"{user}@{socket.gethostname()} ({how})"


def send_command(run: RunDirectory, command: SteeringCommand) -> None:
    """Leaves a command for a run that is training.

    Raises:
        RunError: Nobody would take it, or it cannot be written.
    """
    state = summarize_run(run.path).state
    if state not in (RUNNING, STALLED, PAUSED):
        raise RunError(
            f"{run.name} is not training (it is {state}); `warpzone train --resume {run.path}` "
            "resumes it, with new options after --resume-with-changes"
        )
    try:
        run.commands.mkdir(exist_ok=True)
        if len(list(run.commands.iterdir())) >= _MOST_WAITING:
            raise RunError(f"{run.name} has {_MOST_WAITING} commands waiting; it does not answer")
        text = json.dumps(asdict(command))
        write_text_atomically(run.commands / f"{command.name}.json", text)
    except OSError as error:
        raise RunError(f"the command cannot be left: {describe_os_error(error)}") from error


def waiting_commands(run: RunDirectory) -> list[tuple[Path, SteeringCommand | str]]:
    """Commands that are still to be carried out, oldest first; for a damaged one, the reason."""
    try:
        files = sorted(
            path
            for path in run.commands.iterdir()
            if path.suffix == ".json" and not is_temporary(path.name)
        )
    except OSError:
        return []
    return [(path, _read_command(path)) for path in files]


def _read_command(path: Path) -> SteeringCommand | str:
    try:
        row = read_json(path, _LARGEST_COMMAND)
        action = entry(row, "action", str)
        changes = entry(row, "changes", dict)
        if action not in ACTIONS:
            return f"there is no action {action!r}"
        if not all(isinstance(text, str) for text in (*changes, *changes.values())):
            return "its changes are not text"
        who, moment = entry(row, "who", str), entry(row, "time", float)
    except (OSError, ValueError) as error:
        return str(error)
    return SteeringCommand(action, who, changes, path.stem, moment)


def read_steering(run: RunDirectory) -> list[Row]:
    """What became of the commands so far, oldest first; damaged lines are left out."""
    try:
        return list(read_lines(run.steering, lambda path, reason: None))
    except OSError:
        return []


def find_outcome(run: RunDirectory, name: str) -> Row | None:
    """What became of a command; None while it waits."""
    for row in reversed(read_steering(run)):
        if row.get("command") == name:
            return row
    return None
