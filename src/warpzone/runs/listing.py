"""Finding runs below a folder and summarizing each, without loading anything large."""

from __future__ import annotations

import os
import re
import tomllib
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warpzone.runs.directory import CONFIG_FILE, RunDirectory
from warpzone.system.json_file import read_bytes
from warpzone.telemetry.heartbeat import state_of
from warpzone.telemetry.metrics import STEPS, UPDATES
from warpzone.telemetry.reading import Row, finite, first_line, last_line

_SIMPLE_LEVEL = re.compile(r'^level = "([\w.,+-]*)"$', re.MULTILINE)


@dataclass(frozen=True)
class RunSummary:
    """What a run has achieved so far; the one source of `runs`, `runs show` and the report.

    Attributes:
        path: The run directory.
        level: As configured; None when the configuration does not say.
        steps: Environment steps done.
        updates: Updates done.
        clear_rate: Clears among the last 100 episodes; None when it is not known.
        elapsed: Seconds of training; None when they are not known.
        state: 'running', 'paused', 'stalled', 'finished', 'interrupted', 'crashed' or 'new'.
        changed: Unix seconds of the last heartbeat.
        started: Unix seconds of the first heartbeat; None when they are not known.
        steps_per_second: Speed of the last row; None when it is not known.
        heartbeat: The last heartbeat, from which the state can be derived again.
        damages: Files that are damaged, and how.
    """

    path: Path
    level: str | None
    steps: int
    updates: int
    clear_rate: float | None
    elapsed: float | None
    state: str
    changed: float
    started: float | None = None
    steps_per_second: float | None = None
    heartbeat: Row | None = None
    damages: tuple[str, ...] = ()

    def __str__(self) -> str:
        """One line for people."""
        rate = "unknown" if self.clear_rate is None else f"{self.clear_rate:.0%}"
        return f"{self.path}: {self.state}, {self.steps:,} steps, clear rate {rate}"

    def as_row(self) -> dict[str, Any]:
        """The summary as plain data, as `warpzone runs list --json` prints it."""
        return {
            "name": self.path.name,
            "path": self.path.as_posix(),
            "level": self.level,
            "state": self.state,
            "started": _iso_time(self.started),
            "changed": _iso_time(self.changed),
            "duration_seconds": self.elapsed,
            "steps": self.steps,
            "updates": self.updates,
            "clear_rate": self.clear_rate,
            "steps_per_second": self.steps_per_second,
            "damages": list(self.damages),
        }


def _iso_time(seconds: float | None) -> str | None:
    """A moment in ISO 8601, in UTC; None for what no calendar has."""
    try:
        return (
            None if not seconds else datetime.fromtimestamp(seconds, UTC).isoformat("T", "seconds")
        )
    except (ValueError, OverflowError, OSError):
        return None


def list_runs(folder: Path, depth: int = 3, most_entries: int = 20_000) -> list[RunSummary]:
    """Lists the runs below a folder, or the run that it is, sorted by path.

    Args:
        folder: Such as `runs`.
        depth: Levels of folders to search.
        most_entries: Directory entries after which the search ends.
    """
    return sorted(
        (summarize_run(path) for path in find_runs(folder, depth, most_entries)),
        key=lambda run: run.path,
    )


def summarize_run(path: Path) -> RunSummary:
    """Summarizes a run; what is damaged counts as missing and is named."""
    run = RunDirectory(path)
    damages: list[str] = []

    def on_damage(file: Path, reason: str) -> None:
        damages.append(f"{file} is damaged: {reason}")

    def newest(file: Path) -> Row:
        try:
            return last_line(file, on_damage) or {}
        except OSError as error:
            damages.append(f"{file} cannot be read: {error.strerror}")
            return {}

    row, heartbeat = newest(run.metrics), newest(run.heartbeat)
    steps, updates = finite(row, STEPS), finite(row, UPDATES)
    beat_steps, beat_updates = finite(heartbeat, "steps"), finite(heartbeat, "update")
    # Whichever is newer: a resumed run may have begun with fewer steps than the last row has.
    if steps is None or (finite(heartbeat, "time") or 0.0) >= (finite(row, "run/time") or 0.0):
        steps = steps if beat_steps is None else beat_steps
        updates = updates if beat_updates is None else beat_updates
    return RunSummary(
        path=path,
        level=_level(run.config),
        steps=int(steps or 0),
        updates=int(updates or 0),
        clear_rate=finite(row, "rollout/clear_rate"),
        elapsed=finite(row, "run/elapsed"),
        state=state_of(heartbeat or None),
        changed=finite(heartbeat, "time") or _modified(run.config),
        started=finite(first_line(run.heartbeat) or {}, "time"),
        steps_per_second=finite(row, "speed/steps_per_second"),
        heartbeat=heartbeat or None,
        damages=tuple(damages),
    )


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0  # Deleted since it was found.


def find_runs(folder: Path, depth: int = 3, most_entries: int = 20_000) -> list[Path]:
    """Finds run directories, breadth first, so that near runs are found before the limit.

    Links are not followed.
    """
    found = []
    waiting = deque([(folder, 0)])
    seen = 0
    while waiting and seen < most_entries:
        place, level = waiting.popleft()
        if (place / CONFIG_FILE).is_file():
            found.append(place)
            continue  # There are no runs inside runs.
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
        except (PermissionError, FileNotFoundError):
            continue
    # Folders that the limit left unopened may still be runs, and checking them costs little.
    return [*found, *(place for place, _ in waiting if (place / CONFIG_FILE).is_file())]


def _level(config: Path) -> str | None:
    """The option named `level` or `levels`, at the top of the configuration or in a table."""
    try:
        text = read_bytes(config).decode()
        simple = _SIMPLE_LEVEL.search(text)
        if simple is not None:  # Parsing a whole configuration takes milliseconds.
            return simple[1]
        tree = tomllib.loads(text)
    except (OSError, ValueError, RecursionError):
        return None
    for table in [tree, *(value for value in tree.values() if isinstance(value, dict))]:
        for name in ("level", "levels"):
            if name in table:
                return _text(table[name])
    return None


def _text(value: Any) -> str:
    return ",".join(str(item) for item in value) if isinstance(value, list) else str(value)
