"""Finding runs below a folder and telling what each has come to, without loading anything big."""

from __future__ import annotations

import os
import tomllib
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpzone.runs.directory import CONFIG_FILE, RunDirectory
from warpzone.telemetry.heartbeat import last_heartbeat, state_of
from warpzone.telemetry.jsonl import last_line
from warpzone.telemetry.metrics import STEPS


@dataclass(frozen=True)
class RunSummary:
    """One line of `warpzone runs`.

    Attributes:
        path: The run directory.
        level: As configured; None when the configuration does not say.
        steps: Environment steps at the last sign of life.
        clear_rate: Of the last row of metrics; None when there is none.
        state: 'running', 'finished', 'interrupted', 'crashed' or 'new'.
        changed: Unix seconds of the last sign of life.
    """

    path: Path
    level: str | None
    steps: int
    clear_rate: float | None
    state: str
    changed: float


def list_runs(folder: Path, depth: int = 3, most_entries: int = 20_000) -> list[RunSummary]:
    """Lists the runs below a folder, or the run that it is, sorted by path.

    Args:
        folder: Such as `runs`.
        depth: How many levels of folders are looked into.
        most_entries: After so many directory entries the search ends.
    """
    return sorted(
        (summarize_run(path) for path in _find(folder, depth, most_entries)),
        key=lambda run: run.path,
    )


def summarize_run(path: Path) -> RunSummary:
    """Tells what a run has come to."""
    run = RunDirectory(path)
    row = last_line(run.metrics) or {}
    sign = last_heartbeat(run.heartbeat)
    changed = float(sign["time"]) if sign and "time" in sign else run.config.stat().st_mtime
    steps = [row.get(STEPS), (sign or {}).get("steps")]
    return RunSummary(
        path=path,
        level=_level(run.config),
        steps=max(int(value) for value in [0, *steps] if value is not None),
        clear_rate=row.get("rollout/clear_rate"),
        state=state_of(sign),
        changed=changed,
    )


def _find(folder: Path, depth: int, most_entries: int) -> list[Path]:
    """Breadth first, so that near runs are found before the limit; links are not followed."""
    found = []
    waiting = deque([(folder, 0)])
    seen = 0
    while waiting and seen < most_entries:
        place, level = waiting.popleft()
        if (place / CONFIG_FILE).is_file():
            found.append(place)
            continue  # there are no runs inside runs
        if level >= depth or not place.is_dir():
            continue
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    seen += 1
                    if seen >= most_entries:
                        break
                    if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                        waiting.append((Path(entry.path), level + 1))
        except PermissionError:
            continue
    # What the limit left unopened may still be runs, and looking costs little.
    return [*found, *(place for place, _ in waiting if (place / CONFIG_FILE).is_file())]


def _level(config: Path) -> str | None:
    """The option named `level` or `levels`, at the top of the configuration or in a table."""
    try:
        tree = tomllib.loads(config.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    for table in [tree, *(value for value in tree.values() if isinstance(value, dict))]:
        for name in ("level", "levels"):
            if name in table:
                return _text(table[name])
    return None


def _text(value: Any) -> str:
    return ",".join(str(item) for item in value) if isinstance(value, list) else str(value)
