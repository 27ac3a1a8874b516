"""What was changed in a run so far, and how it was evaluated, for the page and for marks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warpzone.runs.directory import RunDirectory
from warpzone.runs.steering import read_steering
from warpzone.telemetry.reading import Row, finite, read_lines

_SHOWN_ROWS = 200
_LEVEL_NUMBERS = ("episodes", "clears", "clear_rate", "interval_low", "interval_high")


def history(run: RunDirectory) -> list[Row]:
    """The last commands, oldest first."""
    return read_steering(run)[-_SHOWN_ROWS:]


def evaluations(run: RunDirectory) -> list[dict[str, Any]]:
    """The last evaluations, oldest first; damaged lines are left out."""
    rows = [_evaluation(row) for row in _read(run.evaluations)]
    return [row for row in rows if row is not None][-_SHOWN_ROWS:]


def marks(run: RunDirectory) -> list[dict[str, Any]]:
    """Changes of options and evaluations, for the charts."""
    changed = [
        {"steps": finite(row, "steps"), "time": finite(row, "elapsed"), "changes": row["changes"]}
        for row in history(run)
        if row.get("changes") and not row.get("error") and finite(row, "steps") is not None
    ]
    evaluated = [
        {"steps": row["steps"], "time": row["elapsed"], "clear_rate": row["clear_rate"]}
        for row in evaluations(run)
        if row["clear_rate"] is not None and row["steps"] is not None
    ]
    return changed + evaluated


def _read(path: Path) -> list[Row]:
    try:
        return list(read_lines(path, lambda path, reason: None))
    except OSError:
        return []


def _evaluation(row: Row) -> dict[str, Any] | None:
    """A row for the page; None if it is not one that a run has written."""
    found = row.get("levels")
    if not isinstance(found, list) or not all(isinstance(level, dict) for level in found):
        return None
    levels = [
        {name: finite(level, name) for name in _LEVEL_NUMBERS} | {"level": str(level.get("level"))}
        for level in found
    ]
    clears = sum(finite(level, "clears") or 0.0 for level in found)
    episodes = sum(finite(level, "episodes") or 0.0 for level in found)
    return {
        **{name: finite(row, name) for name in ("time", "update", "steps", "elapsed")},
        "who": str(row.get("who")),
        "checkpoint": str(row.get("checkpoint")),
        "error": None if row.get("error") is None else str(row["error"]),
        "levels": levels,
        "episodes": episodes,
        "clear_rate": clears / episodes if episodes else None,
    }
