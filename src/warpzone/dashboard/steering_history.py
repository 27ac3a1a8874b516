"""What was changed in a run so far, for the page and for marks in the charts."""

from __future__ import annotations

from typing import Any

from warpzone.runs.directory import RunDirectory
from warpzone.runs.steering import read_steering
from warpzone.telemetry.reading import Row, finite

_SHOWN_ROWS = 200


def history(run: RunDirectory) -> list[Row]:
    """The last commands, oldest first."""
    return read_steering(run)[-_SHOWN_ROWS:]


def marks(run: RunDirectory) -> list[dict[str, Any]]:
    """Changes of options, for the charts."""
    rows = (row for row in history(run) if row.get("changes") and not row.get("error"))
    return [
        {"steps": finite(row, "steps"), "time": finite(row, "elapsed"), "changes": row["changes"]}
        for row in rows
        if finite(row, "steps") is not None
    ]
