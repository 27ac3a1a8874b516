"""The folder of a sweep, and `sweep.json`, which records what was asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from warpzone.config import PRESET_NAMES, Partial, TrainConfig, checked_tree, merged, resolve
from warpzone.config.option import options_of
from warpzone.config.values import check_value
from warpzone.errors import ConfigError, SweepError
from warpzone.sweep.options import SweepOptions
from warpzone.sweep.space import (
    Dimension,
    Parameter,
    default_space,
    parameters_of,
    parse_space,
    partial_tree,
)
from warpzone.system.atomic_file import write_text_atomically
from warpzone.system.json_file import entry, read_json

SWEEP_FILE = "sweep.json"
_FORMAT = 1


@dataclass(frozen=True)
class SweepFolder:
    """The files of a sweep, by name."""

    path: Path

    @property
    def file(self) -> Path:
        """What was asked for."""
        return self.path / SWEEP_FILE

    @property
    def journal(self) -> Path:
        """Optuna's journal: every trial, its parameters and its results."""
        return self.path / "journal.log"

    @property
    def runs(self) -> Path:
        """Folder of the trials' runs."""
        return self.path / "runs"

    @property
    def locks(self) -> Path:
        """Folder of locks, one per trial that has started."""
        return self.path / "locks"

    @property
    def logs(self) -> Path:
        """Folder of the output of worker processes, one file per trial."""
        return self.path / "logs"

    def run(self, trial: int, index: int) -> Path:
        """The run of a trial.

        Args:
            trial: Number of the trial.
            index: Which of its runs, from 0.
        """
        return self.runs / f"trial-{trial:04d}-{index}"

    def lock(self, trial: int) -> Path:
        """The lock that the worker of a trial holds."""
        return self.locks / f"trial-{trial:04d}.lock"

    def log(self, trial: int) -> Path:
        """The output of the workers of a trial."""
        return self.logs / f"trial-{trial:04d}.txt"


@dataclass(frozen=True)
class SweepPlan:
    """What a sweep was asked for.

    Attributes:
        preset: Preset that every trial starts from.
        explicit: Training options that all trials share.
        options: Objective, number of trials and the like.
    """

    preset: str
    explicit: Partial
    options: SweepOptions

    @property
    def space(self) -> tuple[Dimension, ...]:
        """The options that are searched."""
        if self.options.space:
            return parse_space(self.options.space, self.explicit)
        return default_space(self.preset, self.explicit)

    def config(self, parameters: Mapping[str, Parameter]) -> TrainConfig:
        """Returns the configuration of a trial, before what differs between its runs.

        Raises:
            ConfigError: The values do not fit together.
        """
        return resolve(self.tree(parameters), self.preset)

    def preset_parameters(self) -> dict[str, Parameter]:
        """Returns the parameters of the preset itself, as far as they are within the space."""
        return parameters_of(self.space, resolve(self.explicit, self.preset))

    def tree(self, parameters: Mapping[str, Parameter]) -> dict[str, dict[str, Any]]:
        """Returns the explicit options of a trial: shared ones and sampled ones."""
        return merged(self.explicit, partial_tree(self.space, parameters))

    def verify(self) -> None:
        """Checks the values, whichever channel they come from.

        Raises:
            ConfigError: Naming the option, its value and what is allowed.
        """
        for option in options_of(SweepOptions):
            check_value(option, getattr(self.options, option.name), f"--{option.flag}")
        if len(self.options.objectives) > 1 and self.options.used_pruner != "none":
            raise ConfigError(
                f"--pruner {self.options.pruner} works with one objective, and --objective is "
                f"{self.options.objective}; leave --pruner out"
            )
        if not self.space:
            raise ConfigError(
                f"every option of the default space of --preset {self.preset} is set explicitly; "
                "name options to search with --space"
            )
        resolve(self.explicit, self.preset)


def write_plan(folder: SweepFolder, plan: SweepPlan) -> None:
    """Writes `sweep.json` atomically."""
    tree = {"format": _FORMAT, **asdict(plan)}
    write_text_atomically(folder.file, json.dumps(tree, indent=1) + "\n")


def read_plan(path: Path) -> SweepPlan:
    """Reads the `sweep.json` of a folder.

    Raises:
        SweepError: The folder is not a sweep, or the file is damaged; the text says what is wrong.
    """
    file = SweepFolder(path).file
    try:
        tree = read_json(file)
        found = entry(tree, "format", int)
        if found != _FORMAT:
            raise SweepError(f"{file} has format {found}; this version reads {_FORMAT}")
        preset = entry(tree, "preset", str)
        if preset not in PRESET_NAMES:
            raise ValueError(f"its preset is {preset[:60]!r}, which does not exist")
        explicit = checked_tree(entry(tree, "explicit", dict), "its training options")
        plan = SweepPlan(preset, explicit, _options(entry(tree, "options", dict)))
        plan.verify()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise SweepError(f"{path} is not a sweep: it has no {SWEEP_FILE}") from error
    except OSError as error:
        raise SweepError(f"{file} cannot be read: {error.strerror}") from error
    except SweepError:
        raise
    except ValueError as error:
        raise SweepError(f"{file} is damaged: {error}") from error
    return plan


def _options(tree: Mapping[str, Any]) -> SweepOptions:
    known = {option.name: option for option in options_of(SweepOptions)}
    if tree.keys() != known.keys():
        names = sorted(set(tree) ^ set(known))
        raise ValueError(f"its options differ from those of a sweep: {', '.join(names)[:200]}")
    return SweepOptions(
        **{name: check_value(known[name], value, name) for name, value in tree.items()}
    )
