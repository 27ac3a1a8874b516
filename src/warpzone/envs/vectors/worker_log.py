"""What a worker is doing, as JSON lines: the file that every failure names."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class WorkerLog:
    """Appends a line at the beginning and at the end of each stage of a worker."""

    def __init__(self, path: Path, worker: int) -> None:
        """Takes the file; it is made with the first line."""
        self.path, self._worker = path, worker

    def write(self, stage: str, event: str, **more: Any) -> None:
        """Appends a line, which reaches the file before this returns."""
        row = {"time": round(time.time(), 3), "worker": self._worker, "pid": os.getpid()}
        line = json.dumps(row | {"stage": stage, "event": event} | more)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Tells of a stage: that it began, and how it ended."""
        self.write(name, "begin")
        began = time.monotonic()
        try:
            yield
        except BaseException as error:
            self.write(name, "error", error=f"{type(error).__name__}: {error}")
            raise
        self.write(name, "end", seconds=round(time.monotonic() - began, 3))


def read_log(path: Path) -> list[dict[str, Any]]:
    """Every whole line of a log; none when there is no file."""
    if not path.exists():
        return []
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue  # A worker that was killed may leave half a line.
    return rows


def last_error(path: Path) -> str | None:
    """The last error that the worker recorded."""
    errors = [row["error"] for row in read_log(path) if row.get("event") == "error"]
    return str(errors[-1]) if errors else None
