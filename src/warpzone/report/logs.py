"""The parts of a run's log that belong in a report."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from html import escape
from pathlib import Path

from warpzone.report.page import collapsible
from warpzone.report.privacy import without_folders
from warpzone.system.json_file import read_bytes

_MAX_HINTS = 12
_TAIL_LINES = 40
_MAX_BYTES = 64 * 1024**2
_HINT_MARKS = ("[hint]", "] warning:", "] error:")


def hints_html(log: Path) -> str:
    """Returns a run's hints and warnings, newest last; an empty string if there are none."""
    hints = deque((line for line in _lines(log) if _is_hint(line)), _MAX_HINTS)
    items = "".join(_item(without_folders(line)) for line in hints)
    return f'<ul class="hints">{items}</ul>' if items else ""


def damages_html(damages: Sequence[str]) -> str:
    """Returns the list of a run's damaged files; an empty string if there are none."""
    items = "".join(f"<li>{escape(without_folders(damage))}</li>" for damage in damages)
    return f'<ul class="hints">{items}</ul>' if items else ""


def tail_html(log: Path) -> str:
    """Returns the end of the log, collapsed; an empty string if there is no log."""
    lines = deque(_lines(log), _TAIL_LINES)
    if not lines:
        return ""
    return collapsible(
        f"the last {len(lines)} lines of {log.name}", without_folders("\n".join(lines))
    )


def _item(line: str) -> str:
    time, _, text = line.partition(" ")
    return f"<li><small>{escape(time)}</small>{escape(text)}</li>"


def _is_hint(line: str) -> bool:
    return any(mark in line for mark in _HINT_MARKS)


def _lines(log: Path) -> list[str]:
    try:
        return read_bytes(log, _MAX_BYTES).decode(errors="replace").splitlines()
    except OSError:
        return []
    except ValueError as error:
        return [f"{log.name} is not shown: {error}"]
