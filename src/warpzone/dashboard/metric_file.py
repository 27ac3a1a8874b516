"""Tables of metrics that follow their files: read once, then only where a file has grown.

A long file is opened at once with a part of its rows; the others follow from a thread.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

from warpzone.telemetry.jsonl import rotated_files
from warpzone.telemetry.metric_table import MetricTable
from warpzone.telemetry.reading import read_lines

_LINES_AT_ONCE = 2000
_QUICK_BYTES = 4 * 1024 * 1024  # What can be parsed while somebody waits.
_MOST_BYTES_AT_ONCE = 256 * 1024 * 1024


class _Reader:
    """Reads a stream of metrics from its start, one call after another.

    Attributes:
        table: What has been read.
        damages: What is wrong with the files, for the page.
    """

    def __init__(self, path: Path) -> None:
        """Reads nothing yet."""
        self._path = path
        self.table = MetricTable()
        self.damages: list[str] = []
        self._offset = 0
        self._rotated = _rotated_names(path)
        self._identity, _ = _look_at(path)
        self._read_rotated = False

    @property
    def is_current(self) -> bool:
        """Whether the files are still those that were read, perhaps with more lines."""
        identity, size = _look_at(self._path)
        rotated = _rotated_names(self._path)
        return (rotated, identity) == (self._rotated, self._identity) and size >= self._offset

    @property
    def is_quick(self) -> bool:
        """Whether the rest can be read while somebody waits."""
        new = _look_at(self._path)[1] - self._offset
        return new <= _QUICK_BYTES and (self._read_rotated or not self._rotated)

    def read(self) -> None:
        """Reads what is new.

        Raises:
            OSError: The files cannot be read.
        """
        if not self._read_rotated:
            self._read_rotated = True
            for name in self._rotated:
                for row in read_lines(self._path.with_name(name), self._note_damage):
                    self.table.append(row)
        data = self._new_lines()
        self._offset += len(data)
        lines = data.splitlines()
        bad = 0
        for start in range(0, len(lines), _LINES_AT_ONCE):
            rows, damaged = _parse_lines(lines[start : start + _LINES_AT_ONCE])
            bad += damaged
            for row in rows:
                self.table.append(row)
        if bad:
            self._note_damage(self._path, f"{bad} {'line is' if bad == 1 else 'lines are'} damaged")

    def excerpt(self) -> MetricTable:
        """Some of the new rows, evenly spread, without remembering that they were read."""
        table = MetricTable()
        data = self._new_lines()
        lines = data.splitlines()
        stride = -(-len(data) // _QUICK_BYTES) or 1
        # Counted from the end, so that the newest row is among them.
        for row in _parse_lines(lines[::-1][::stride][::-1])[0]:
            table.append(row)
        return table

    def _new_lines(self) -> bytes:
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                data = file.read(_MOST_BYTES_AT_ONCE)
        except FileNotFoundError:
            return b""
        return data[: data.rfind(b"\n") + 1]  # The rest is being written at this moment.

    def _note_damage(self, path: Path, reason: str) -> None:
        self.damages.append(f"{path.name}: {reason}")


class MetricFile:
    """The metrics of a run, kept up to date; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        """Reads nothing yet.

        Args:
            path: Such as `metrics.jsonl`.
        """
        self._path = path
        self._lock = threading.Lock()
        self._reader = _Reader(path)
        self._excerpt: MetricTable | None = None
        self._filling: threading.Thread | None = None

    @property
    def damages(self) -> list[str]:
        """What is wrong with the files, for the page."""
        return list(self._reader.damages)

    @property
    def is_complete(self) -> bool:
        """Whether the last table had all rows."""
        return self._filling is None

    def refresh(self) -> MetricTable:
        """The table, up to date; of a long file some of its rows until a thread has read them all.

        Raises:
            OSError: The files cannot be read.
        """
        with self._lock:
            if self._filling is not None:
                if self._filling.is_alive():
                    assert self._excerpt is not None
                    return self._excerpt
                self._filling = self._excerpt = None
            if not self._reader.is_current:
                self._reader = _Reader(self._path)
            if self._reader.is_quick:
                self._reader.read()
                return self._reader.table
            self._excerpt = self._reader.excerpt()
            self._filling = threading.Thread(target=self._fill, name="metrics", daemon=True)
            self._filling.start()
            return self._excerpt

    def wait(self) -> None:
        """Waits until all rows are read."""
        filling = self._filling
        if filling is not None:
            filling.join()

    def _fill(self) -> None:
        try:
            self._reader.read()
        except OSError as error:
            self._reader.damages.append(str(error))


class MetricFiles:
    """The tables of the runs that were looked at last."""

    def __init__(self, most: int = 16) -> None:
        """Keeps up to `most` tables in memory."""
        self._most = most
        self._files: OrderedDict[Path, MetricFile] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, path: Path) -> MetricFile:
        """The file, with what was read of it before."""
        with self._lock:
            if path not in self._files:
                self._files[path] = MetricFile(path)
            self._files.move_to_end(path)
            while len(self._files) > self._most:
                self._files.popitem(last=False)
            return self._files[path]


def _rotated_names(path: Path) -> list[str]:
    return [file.name for _, file in rotated_files(path)]


def _look_at(path: Path) -> tuple[tuple[int, int] | None, int]:
    """What identifies the file under a name, and its size."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None, 0
    return (status.st_dev, status.st_ino), status.st_size


def _parse_lines(lines: list[bytes]) -> tuple[list[dict[str, Any]], int]:
    """Parses lines at once, which is twice as fast, or one by one where some are damaged."""
    try:
        rows = json.loads(b"[" + b",".join(lines) + b"]")
    except (ValueError, RecursionError):
        rows = [_parse_line(line) for line in lines]
    tables = [row for row in rows if isinstance(row, dict)]
    return tables, max(0, len(lines) - len(tables))


def _parse_line(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
