"""`warpzone runs list`: what each run has achieved, for people and for scripts."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpzone.commands.tables import print_whole, table_console
from warpzone.config.option import option, positional
from warpzone.system.text import printable

if TYPE_CHECKING:
    from warpzone.runs.listing import RunSummary

_COLUMNS = ("run", "level", "state", "started", "duration", "steps", "clear rate")
_NUMBERS = ("duration", "steps", "clear rate")


@dataclass(frozen=True)
class RunsList:
    """List the runs below a folder: level, state, start, duration, steps, clear rate.

    The clear rate is that of the last 100 training episodes; the duration is training time, without
    pauses. Names are never cut: a terminal too narrow for the table gets a short list.

    Examples:
      warpzone runs list
      warpzone runs list elsewhere/
      warpzone runs list --json | jq -r '.runs[] | select(.state == "finished") | .path'
    """

    folder: Path = positional(Path("runs"), "Folder to search.", metavar="FOLDER")
    json: bool = option(
        False,
        "Print one JSON object, with the runs in a list, instead of a table. Times are in UTC, "
        "durations in seconds, and what is not known is null.",
    )

    def run(self) -> int:
        """Prints the list."""
        from warpzone.runs.listing import list_runs

        found = list_runs(self.folder)
        if self.json:
            print(json.dumps({"runs": [run.as_row() for run in found]}, indent=2))
            return 0
        if not found:
            print(f"there are no runs below {printable(self.folder)}; `warpzone train` starts one")
            return 0
        print_whole(table_console(), _COLUMNS, [_cells(run) for run in found], _NUMBERS)
        for run in found:
            for damage in run.damages:
                print(f"warning: {printable(damage)}")
        return 0


def _cells(run: RunSummary) -> tuple[str, ...]:
    from warpzone.telemetry.terminal import duration

    return (
        str(run.path),
        run.level or "-",
        run.state,
        _moment(run.started),
        "-" if run.elapsed is None else duration(run.elapsed),
        f"{run.steps:,}",
        "-" if run.clear_rate is None else f"{run.clear_rate:.0%}",
    )


def _moment(seconds: float | None) -> str:
    """A moment in the local time zone, to the minute."""
    if seconds is None:
        return "-"
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (ValueError, OverflowError, OSError):  # A damaged file may name any number.
        return "-"
