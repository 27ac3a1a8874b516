"""Printing measurements as tables and writing them to files."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from warpzone.bench.backends import BackendRow
    from warpzone.bench.env import RawRow, StepRow
_PIPE_WIDTH = 120


def print_tables(steps: list[StepRow], raw: list[RawRow]) -> None:
    """Prints the tables of `warpzone bench env` to standard output."""
    screen = Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH)
    level = raw[0].level
    table = Table(title=f"vector environment, {level}", title_justify="left")
    for heading in ("obs", "envs", "threads", "agent steps/s", "frames/s", "Python"):
        table.add_column(heading, justify="left" if heading == "obs" else "right")
    for row in steps:
        table.add_row(
            row.obs,
            str(row.num_envs),
            str(row.num_threads),
            f"{row.steps_per_second:,.0f}",
            f"{row.frames_per_second:,.0f}",
            f"{row.python_share:.1%}",
        )
    screen.print(table)
    table = Table(title=f"bare console, {level}", title_justify="left")
    table.add_column("frames")
    table.add_column("frames/s", justify="right")
    for raw_row in raw:
        name = "rendered" if raw_row.rendered else "not rendered"
        table.add_row(name, f"{raw_row.frames_per_second:,.0f}")
    screen.print(table)


def print_backends(rows: Sequence[BackendRow], level: str) -> None:
    """Prints a comparison of backends, with each one's speed relative to the fastest."""
    screen = Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH)
    table = Table(title=f"backends, {level}, pixels, frame skip 4", title_justify="left")
    for heading in ("envs", "backend", "vector", "agent steps/s", "ratio", "start", "memory"):
        table.add_column(heading, justify="left" if heading in ("backend", "vector") else "right")
    for row in rows:
        best = max(r.steps_per_second for r in rows if r.num_envs == row.num_envs)
        table.add_row(
            str(row.num_envs),
            row.backend,
            row.vector,
            f"{row.steps_per_second:,.0f}",
            f"1/{best / row.steps_per_second:,.0f}",
            f"{row.start_seconds:.2f} s",
            f"{row.megabytes:,.0f} MiB",
        )
    screen.print(table)


def write_json(path: Path, machine: dict[str, str], **tables: Sequence[DataclassInstance]) -> None:
    """Writes tables of measurements and the machine they were taken on.

    Args:
        path: File to write.
        machine: Description of the machine, from `machine_info`.
        tables: Rows of each table, by name.
    """
    data: dict[str, Any] = {"machine": machine}
    data |= {name: [asdict(row) for row in rows] for name, rows in tables.items()}
    path.write_text(json.dumps(data, indent=2) + "\n")


def write_csv(path: Path, rows: Sequence[DataclassInstance]) -> None:
    """Writes one line per measurement."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(rows[0])])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
