"""Comparing runs: their curves on one scale, and the options in which they differ."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from warpzone.config import TrainConfig
from warpzone.config.values import suggestion
from warpzone.errors import ConfigError, RunError
from warpzone.runs.directory import RunDirectory
from warpzone.runs.listing import find_runs
from warpzone.runs.resume import flat_options, named_run
from warpzone.runs.saved_config import saved_config
from warpzone.runs.seed_groups import band, group_label, seed_group
from warpzone.telemetry.metric_table import MetricTable
from warpzone.telemetry.reading import read_lines
from warpzone.telemetry.series import curves

MOST_RUNS = 16
"""Number of runs that can be compared at once; more curves cannot be told apart."""

UNKNOWN = "?"
"""Stands for the options of a run whose configuration is damaged."""

_OF_THE_RUN_ITSELF = frozenset({"run.name", "run.runs"})


@dataclass(frozen=True)
class ComparedRun:
    """A run among those that are compared.

    Attributes:
        label: What distinguishes it from the others.
        config: Its configuration; None if that is damaged.
        table: Its metrics.
    """

    label: str
    config: TrainConfig | None
    table: MetricTable


@dataclass(frozen=True)
class OptionRow:
    """An option with a value per run."""

    option: str
    values: list[Any]


def find_compared_runs(targets: Sequence[Path]) -> list[Path]:
    """Finds the runs that are meant.

    Args:
        targets: Folders of runs, their names below `runs`, or folders with several runs.

    Raises:
        RunError: There are no runs, fewer than two, or too many.
        ResumeError: No run has a name, or several have it.
    """
    found: dict[Path, Path] = {}
    for target in targets:
        path = named_run(target)
        below = sorted(find_runs(path))
        if not below:
            raise RunError(f"{path} is not a run, and there are no runs below it")
        found |= {run.resolve(): run for run in below}
    if len(found) < 2:
        raise RunError(f"only {next(iter(found.values()))} was given; a comparison needs two runs")
    if len(found) > MOST_RUNS:
        raise RunError(f"{len(found)} runs cannot be compared at once; give at most {MOST_RUNS}")
    return list(found.values())


def read_compared_runs(paths: Sequence[Path]) -> list[ComparedRun]:
    """Reads the configurations and metrics of runs; damaged files are reported as warnings."""
    return [
        ComparedRun(
            label,
            config_or_none(RunDirectory(path)),
            MetricTable.of(read_lines(RunDirectory(path).metrics)),
        )
        for label, path in zip(run_labels(paths), paths, strict=True)
    ]


def check_metrics(runs: Sequence[ComparedRun], metrics: Sequence[str]) -> None:
    """Refuses a metric that none of the runs has.

    Raises:
        RunError: The text suggests another name.
    """
    known = sorted({name for run in runs for name in run.table.names})
    for metric in metrics:
        if not any(np.isfinite(run.table.column(metric)).any() for run in runs):
            remedy = suggestion(metric, known) or "; metrics.jsonl of a run has the names"
            raise RunError(f"none of the runs has values of {metric!r}{remedy}")


def run_labels(paths: Sequence[Path]) -> list[str]:
    """What distinguishes runs: their paths without the folders that all of them share."""
    if len(paths) < 2:
        return [path.name for path in paths]
    try:
        shared = os.path.commonpath([os.path.abspath(path) for path in paths])  # noqa: PTH100
    except ValueError:  # On several drives.
        return [path.as_posix() for path in paths]
    return [Path(os.path.abspath(path)).relative_to(shared).as_posix() for path in paths]  # noqa: PTH100


def config_or_none(run: RunDirectory) -> TrainConfig | None:
    """The configuration of a run; None if it is damaged or gone."""
    try:
        return saved_config(run.path)
    except (ConfigError, RunError):
        return None


def option_differences(configs: Sequence[TrainConfig | None]) -> list[OptionRow]:
    """The options in which configurations differ, with the value of each.

    Name and folder of a run are left out, since they always differ.
    """
    trees = [{} if config is None else flat_options(asdict(config)) for config in configs]
    names = sorted({name for tree in trees for name in tree} - _OF_THE_RUN_ITSELF)
    rows = [OptionRow(name, [tree.get(name, UNKNOWN) for tree in trees]) for name in names]
    return [row for row in rows if any(value != row.values[0] for value in row.values)]


def compared_curves(
    runs: Sequence[ComparedRun], metric: str, *, axis: str, points: int
) -> list[dict[str, Any]]:
    """One curve per run; of runs that differ only in the seed, one with a band.

    Args:
        runs: Runs to compare.
        metric: Metric to show.
        axis: 'steps', 'time' or 'clock'.
        points: Largest number of points per curve.

    Returns:
        Curves with their `label`, the number of `seeds`, lists `x` and `y`, and `low` and `high` if
        there are several seeds.
    """
    groups: dict[str, list[ComparedRun]] = {}
    for run in runs:
        # A damaged configuration equals no other.
        key = run.label if run.config is None else seed_group(run.config)
        groups.setdefault(key, []).append(run)
    result = []
    for members in groups.values():
        found = [curves(run.table, [metric], axis=axis, points=points)[metric] for run in members]
        if len(members) == 1:
            result.append({"label": members[0].label, "seeds": 1, **found[0]})
            continue
        spans = [(np.array(curve["x"]), np.array(curve["y"])) for curve in found]
        label = f"{group_label([run.label for run in members])} ({len(members)} seeds)"
        result.append({"label": label, "seeds": len(members), **band(spans, points)})
    return result
