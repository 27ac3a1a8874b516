"""Writer of JSON Lines files: whole lines only, with rotation and compression."""

from __future__ import annotations

import gzip
import json
import logging
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from warpzone.system.atomic_file import replacing
from warpzone.telemetry.append_file import AppendFile

_log = logging.getLogger(__name__)

_MEGABYTE = 1024 * 1024
ROTATE_BYTES = 64 * _MEGABYTE
"""Size at which a file is rotated."""


class JsonlSink:
    """Appends objects to a file, one per line.

    Each line is passed to the operating system before `write` returns, so a kill loses nothing.
    While the disk is full, or the folder does not exist, lines are dropped and counted, with one
    warning.
    """

    def __init__(self, path: Path, rotate_bytes: int = ROTATE_BYTES) -> None:
        """Creates the sink; the file is opened by the first line.

        Args:
            path: File to append to, such as `metrics.jsonl`.
            rotate_bytes: Size at which the file is renamed to `metrics-0001.jsonl.gz` and a new
                file is started.
        """
        self._path = path
        self._file = AppendFile(path)
        self._rotate_bytes = rotate_bytes
        self._prepared = False
        self._failing = False
        self.dropped = 0
        """Lines lost because they could not be written."""

    def write(self, row: Mapping[str, object]) -> None:
        """Appends one line, or drops and counts it if it cannot be written."""
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
            _log.warning("%s can be written again; %d lines were lost", self._path, self.dropped)
            self._failing = False

    def close(self) -> None:
        """Closes the file; a later write opens it again."""
        self._file.close()
        self._prepared = False

    def _append(self, line: bytes) -> None:
        if not self._prepared:
            _cut_torn_line(self._path)
            _compress_rotated(self._path)
            self._prepared = True
        self._file.open()
        if self._file.size and self._file.size + len(line) > self._rotate_bytes:
            self._rotate()
        self._file.append(line)

    def _rotate(self) -> None:
        self._file.close()
        numbers = [number for number, _ in rotated_files(self._path)]
        self._path.rename(_rotated_name(self._path, max(numbers, default=0) + 1))
        _compress_rotated(self._path)


def _rotated_name(path: Path, number: int) -> Path:
    return path.with_name(f"{path.stem}-{number:04d}{path.suffix}")


def rotated_files(path: Path) -> list[tuple[int, Path]]:
    """Returns rotated files with their numbers, oldest first; compressed files take precedence."""
    stem, suffix = path.stem, path.suffix
    try:
        # Names only: the list of a thousand runs asks for thousands of folders.
        names = sorted(name for name in os.listdir(path.parent) if name.startswith(f"{stem}-"))  # noqa: PTH208
    except (FileNotFoundError, NotADirectoryError):
        return []
    pattern = re.compile(re.escape(stem) + r"-(\d{4,})" + re.escape(suffix) + r"(\.gz)?")
    found: dict[int, Path] = {}
    for name in names:  # The plain name sorts before its .gz.
        match = pattern.fullmatch(name)
        if match:
            found[int(match[1])] = path.with_name(name)
    return sorted(found.items())


def _compress_rotated(path: Path) -> None:
    """Compresses rotated files, including those that an earlier failure left uncompressed."""
    for number, entry in rotated_files(path):
        plain = _rotated_name(path, number)
        if entry.suffix == ".gz":
            plain.unlink(missing_ok=True)
            continue
        try:
            # The compressed file is complete on disk before the plain one is removed.
            with (
                replacing(plain.with_name(plain.name + ".gz")) as part,
                plain.open("rb") as source,
                gzip.open(part, "wb", compresslevel=6) as target,
            ):
                shutil.copyfileobj(source, target, _MEGABYTE)
            plain.unlink()
        except OSError as error:
            _log.warning("%s stays uncompressed for now: %s", plain, error)


def _cut_torn_line(path: Path) -> None:
    """Truncates an incomplete last line, as a crash of the machine leaves it."""
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
                _log.warning("%s ended in an incomplete line; %d bytes removed", path, size - end)
                file.truncate(end)
    except FileNotFoundError:
        return
