"""A small curve over a whole run, read at a few offsets of its file."""

from __future__ import annotations

import json
from pathlib import Path

from warpzone.telemetry.reading import finite

_POINTS = 24
_LONGEST_LINE = 16 * 1024


def sparkline(path: Path, name: str, points: int = _POINTS) -> list[float]:
    """Values of a metric at even distances in the file; empty where nothing can be read."""
    values: list[float] = []
    try:
        with path.open("rb", buffering=0) as file:
            size = file.seek(0, 2)
            seen = -1
            for index in range(points):
                start = max(0, size * index // points - 1)
                file.seek(start)
                data = file.read(_LONGEST_LINE)
                # From the middle of a line, the next one counts.
                begin = 0 if start == 0 else data.find(b"\n") + 1
                end = data.find(b"\n", begin)
                if end < 0 or (start > 0 and begin == 0) or start + begin == seen:
                    continue
                seen = start + begin
                value = _value(data[begin:end], name)
                if value is not None:
                    values.append(round(value, 4))
    except OSError:
        return values
    return values


def _value(line: bytes, name: str) -> float | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return finite(row, name) if isinstance(row, dict) else None
