"""Commands of `warpzone` and groups of commands."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

from warpzone.config.option import Option, options_of
from warpzone.config.tree import train_options

_TRAINING = "training"


class Command(Protocol):
    """Interface of a command's options class."""

    def run(self) -> int:
        """Runs the command and returns the exit code."""


@dataclass(frozen=True)
class Group:
    """Commands that belong together, such as `warpzone bench env` and `bench replay`.

    Attributes:
        help: Description of the group.
        commands: The commands by name.
        default: Command that runs when none of the names is given, such as `warpzone sweep`.
    """

    help: str
    commands: Mapping[str, type[Command] | Group]
    default: type[Command] | None = None


@dataclass(frozen=True)
class TrainingOptions:
    """Declares that a command also accepts training options.

    Attributes:
        preset: Preset whose values `--help` shows as defaults.
        omitted: Paths of options that the command sets itself.
        shown: Flags that `--help` shows; None means the everyday flags.
    """

    preset: str
    omitted: tuple[str, ...] = ()
    shown: tuple[str, ...] | None = None


def training_options(
    preset: str, *, omitted: tuple[str, ...] = (), shown: tuple[str, ...] | None = None
) -> Any:
    """Declares the field of a command that holds explicit training options."""
    return field(
        default_factory=dict, metadata={_TRAINING: TrainingOptions(preset, omitted, shown)}
    )


def training_field(command: type[Any]) -> tuple[str, TrainingOptions] | None:
    """Returns the field of a command that holds training options, if it has one."""
    for item in fields(command):
        if _TRAINING in item.metadata:
            return item.name, item.metadata[_TRAINING]
    return None


def own_options(command: type[Any]) -> tuple[Option, ...]:
    """Returns the options that a command declares itself."""
    return options_of(command)


def inherited_options(command: type[Any]) -> tuple[Option, ...]:
    """Returns the training options that a command accepts."""
    found = training_field(command)
    if found is None:
        return ()
    return tuple(option for option in train_options() if option.path not in found[1].omitted)


def is_everyday(command: type[Any], option: Option) -> bool:
    """Whether `--help` shows an option; `--help-all` shows them all."""
    found = training_field(command)
    if found is None:
        return True
    if option.table and found[1].shown is not None:
        return option.flag in found[1].shown
    return option.everyday


def summary(command: type[Any] | Group) -> str:
    """Returns the first line of a command's description."""
    return description(command).partition("\n")[0]


def description(command: type[Any] | Group) -> str:
    """Returns the description of a command, with examples."""
    return command.help if isinstance(command, Group) else inspect.cleandoc(command.__doc__ or "")
