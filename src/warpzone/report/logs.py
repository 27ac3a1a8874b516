"""What a run's log says that a reader should see."""

from __future__ import annotations

from collections import deque
from html import escape
from pathlib import Path

from warpzone.report.page import folded

_MOST_HINTS = 12
_LAST_LINES = 40
_SPOKEN = ("[hint]", "] warning:", "] error:")


def hints_of(log: Path) -> str:
    """Advice and warnings of a run, the newest last; empty text when there are none."""
    spoken = deque((line for line in _lines(log) if _is_spoken(line)), _MOST_HINTS)
    items = "".join(_item(line) for line in spoken)
    return f'<ul class="hints">{items}</ul>' if items else ""


def tail_of(log: Path) -> str:
    """The end of the log, folded; empty text when there is none."""
    lines = deque(_lines(log), _LAST_LINES)
    return folded(f"the last {len(lines)} lines of {log.name}", "\n".join(lines)) if lines else ""


def _item(line: str) -> str:
    moment, _, text = line.partition(" ")
    return f"<li><small>{escape(moment)}</small>{escape(text)}</li>"


def _is_spoken(line: str) -> bool:
    return any(mark in line for mark in _SPOKEN)


def _lines(log: Path) -> list[str]:
    try:
        return log.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
