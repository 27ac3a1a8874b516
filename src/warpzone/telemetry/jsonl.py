"""Files of JSON lines: written one whole line at a time, rotated, compressed, and read back."""

from __future__ import annotations

import gzip
import json
import logging
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from warpzone.telemetry.append_file import AppendFile
from warpzone.telemetry.metrics import STARTS, STEPS

_log = logging.getLogger(__name__)

_MEGABYTE = 1024 * 1024
_LISTING_ATTEMPTS = 5


class JsonlSink:
    """Appends objects to a file, one a line.

    A line reaches the operating system before `write` returns, so a killed process loses nothing.
    A vanished directory is made again. When the disk is full, lines are dropped and counted, with
    one warning, until there is space again.
    """

    def __init__(self, path: Path, rotate_bytes: int = 64 * _MEGABYTE) -> None:
        """Opens nothing yet; the first line does.

        Args:
            path: Such as `metrics.jsonl`.
            rotate_bytes: Size at which the file becomes `metrics-0001.jsonl.gz` and a new one
                begins.
        """
        self._path = path
        self._file = AppendFile(path)
        self._rotate_bytes = rotate_bytes
        self._prepared = False
        self._failing = False
        self.dropped = 0
        """Lines lost to a full or vanished disk."""

    def write(self, row: Mapping[str, object]) -> None:
        """Appends one line, or drops and counts it when the system refuses."""
        line = json.dumps(row, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        try:
            self._append(line)
        except OSError as error:
            self.dropped += 1
            if not self._failing:
                _log.warning("%s cannot be written (%s); lines are dropped", self._path, error)
            self._failing = True
            self.close()
            return
        if self._failing:
            _log.warning("%s is written again; %d lines were lost", self._path, self.dropped)
            self._failing = False

    def close(self) -> None:
        """Closes the file; a later write opens it again."""
        self._file.close()
        self._prepared = False

    def _append(self, line: bytes) -> None:
        if not self._prepared:
            _cut_torn_line(self._path)
            _compress_leftovers(self._path)
            self._prepared = True
        self._file.open()
        if self._file.size and self._file.size + len(line) > self._rotate_bytes:
            self._rotate()
        self._file.append(line)

    def _rotate(self) -> None:
        self._file.close()
        numbers = [number for number, _ in _rotated(self._path)]
        self._path.rename(_rotated_name(self._path, max(numbers, default=0) + 1))
        _compress_leftovers(self._path)


def _rotated_name(path: Path, number: int) -> Path:
    return path.with_name(f"{path.stem}-{number:04d}{path.suffix}")


def _rotated(path: Path) -> list[tuple[int, Path]]:
    """Rotated files, oldest first; the compressed one where both forms are there."""
    pattern = re.compile(re.escape(path.stem) + r"-(\d{4,})" + re.escape(path.suffix) + r"(\.gz)?")
    found: dict[int, Path] = {}
    if not path.parent.is_dir():
        return []
    for entry in sorted(path.parent.iterdir()):  # the plain name sorts before its .gz
        match = pattern.fullmatch(entry.name)
        if match:
            found[int(match[1])] = entry
    return sorted(found.items())


def _compress_leftovers(path: Path) -> None:
    """Compresses rotated files; what a full disk or a kill left undone is done the next time."""
    for number, entry in _rotated(path):
        plain = _rotated_name(path, number)
        if entry.suffix == ".gz":
            plain.unlink(missing_ok=True)
            continue
        temporary = plain.with_name(f".{plain.name}.gz.tmp")
        try:
            with plain.open("rb") as source, gzip.open(temporary, "wb", compresslevel=6) as target:
                shutil.copyfileobj(source, target, _MEGABYTE)
            temporary.replace(plain.with_name(plain.name + ".gz"))
            plain.unlink()
        except OSError as error:
            _log.warning("%s stays uncompressed for now: %s", plain, error)
            temporary.unlink(missing_ok=True)


def _cut_torn_line(path: Path) -> None:
    """Cuts off what a crash of the machine left behind the last whole line."""
    try:
        with path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            end = size
            while end > 0:
                start = max(0, end - 65536)
                file.seek(start)
                newline = file.read(end - start).rfind(b"\n")
                if newline >= 0:
                    end = start + newline + 1
                    break
                end = start
            if end < size:
                _log.warning("%s ended in half a line; %d bytes cut off", path, size - end)
                file.truncate(end)
    except FileNotFoundError:
        return


def segments(path: Path) -> list[Path]:
    """All files that belong to a stream, oldest first, the one being written last."""
    files = [entry for _, entry in _rotated(path)]
    return [*files, path] if path.exists() else files


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yields every object of a stream, rotated files included.

    Lines that are no objects, such as one being written right now, are left out.
    """
    for _ in range(_LISTING_ATTEMPTS):
        files = segments(path)
        try:
            contents = [_read_segment(file) for file in files]
        except FileNotFoundError:
            continue  # rotated or compressed between listing and reading
        if [file.name for file in segments(path)] == [file.name for file in files]:
            break
    else:
        raise OSError(f"{path} changes faster than it can be read")
    for content in contents:
        for line in content.splitlines():
            row = _parse(line)
            if row is not None:
                yield row


def _read_segment(file: Path) -> bytes:
    return gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Reads metrics without the rows that a resumed run did again.

    A run that goes on from an earlier checkpoint repeats some steps; its rows replace those of an
    earlier start with the same or more steps.
    """
    rows: list[dict[str, Any]] = []
    for row in read_lines(path):
        steps, start = row.get(STEPS), row.get(STARTS)
        if steps is not None and start is not None:
            while rows and rows[-1].get(STARTS, start) < start and rows[-1].get(STEPS, 0) >= steps:
                rows.pop()
        rows.append(row)
    return rows


def last_line(path: Path) -> dict[str, Any] | None:
    """Returns the newest whole object of a stream without reading all of it."""
    for file in reversed(segments(path)):
        for line in reversed(_tail(file)):
            row = _parse(line)
            if row is not None:
                return row
    return None


def _tail(file: Path, size: int = 256 * 1024) -> list[bytes]:
    try:
        if file.suffix == ".gz":
            return _read_segment(file).splitlines()
        with file.open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - size))
            return stream.read().splitlines()
    except FileNotFoundError:
        return []
