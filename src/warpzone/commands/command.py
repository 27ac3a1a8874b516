"""What a command of `warpzone` is, and how commands are grouped."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

from warpzone.config.option import Option, options_of
from warpzone.config.tree import train_options

_TRAINING = "training"


class Command(Protocol):
    """What every command's options class offers."""

    def run(self) -> int:
        """Does the work and returns the exit code."""


@dataclass(frozen=True)
class Group:
    """Commands that belong together, such as `warpzone bench env` and `bench replay`."""

    help: str
    commands: Mapping[str, type[Command] | Group]


@dataclass(frozen=True)
class TrainingOptions:
    """That a command takes the options of training besides its own.

    Attributes:
        preset: The preset whose values `--help` shows.
        omitted: Paths of options that the command sets itself.
        shown: Flags that `--help` shows; None means the everyday ones.
    """

    preset: str
    omitted: tuple[str, ...] = ()
    shown: tuple[str, ...] | None = None


def training_options(
    preset: str, *, omitted: tuple[str, ...] = (), shown: tuple[str, ...] | None = None
) -> Any:
    """Declares the field of a command that takes explicit options of training."""
    return field(
        default_factory=dict, metadata={_TRAINING: TrainingOptions(preset, omitted, shown)}
    )


def training_field(command: type[Any]) -> tuple[str, TrainingOptions] | None:
    """The field of a command that takes options of training, if it has one."""
    for item in fields(command):
        if _TRAINING in item.metadata:
            return item.name, item.metadata[_TRAINING]
    return None


def own_options(command: type[Any]) -> tuple[Option, ...]:
    """The options that a command declares itself."""
    return options_of(command)


def inherited_options(command: type[Any]) -> tuple[Option, ...]:
    """The options of training that a command takes."""
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
    """The first sentence about a command."""
    return description(command).partition("\n")[0]


def description(command: type[Any] | Group) -> str:
    """What a command does, with examples."""
    return command.help if isinstance(command, Group) else inspect.cleandoc(command.__doc__ or "")
