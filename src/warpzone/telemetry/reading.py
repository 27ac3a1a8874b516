"""Reader of JSON Lines files, including rotated and damaged ones."""

from __future__ import annotations

import gzip
import json
import logging
import math
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from warpzone.telemetry.jsonl import ROTATE_BYTES, rotated_files
from warpzone.telemetry.metrics import SESSION, STEPS

_log = logging.getLogger(__name__)

_LISTING_ATTEMPTS = 5
_TAIL_BYTES = (16 * 1024, 256 * 1024)
_HEAD_BYTES = 256 * 1024
# Far more than a sink writes to one file; a larger file is foreign and may not fit in memory.
_MAX_BYTES = 4 * ROTATE_BYTES

Row = dict[str, Any]
OnDamage = Callable[[Path, str], None]
"""Called with a damaged file and a description of the damage."""


def warn_of_damage(path: Path, reason: str) -> None:
    """Logs that a file is damaged."""
    _log.warning("%s is damaged: %s; the rest of the file is used", path, reason)


def segments(path: Path) -> list[Path]:
    """Returns all files of a stream, oldest first; the file being written is last."""
    files = [entry for _, entry in rotated_files(path)]
    # Regular files only: reading a pipe or a device may never end.
    return [file for file in (*files, path) if file.is_file()]


def read_lines(path: Path, on_damage: OnDamage = warn_of_damage) -> Iterator[Row]:
    """Yields every object of a stream, rotated files included.

    A damaged file is read as far as possible. An incomplete last line is still being written and is
    skipped.

    Args:
        path: Stream to read, such as `metrics.jsonl`.
        on_damage: Called once for each damaged file.

    Raises:
        OSError: The files cannot be read.
    """
    for _ in range(_LISTING_ATTEMPTS):
        files = segments(path)
        damages: list[tuple[Path, str]] = []
        try:
            contents = [_read_segment(file, damages) for file in files]
        except FileNotFoundError:
            continue  # Rotated or compressed between listing and reading.
        if [file.name for file in segments(path)] == [file.name for file in files]:
            break
    else:
        raise OSError(f"{path} changes faster than it can be read")
    for damage in damages:
        on_damage(*damage)
    for file, content in zip(files, contents, strict=True):
        yield from _rows_of(file, content.splitlines(keepends=True), on_damage)


def _read_segment(file: Path, damages: list[tuple[Path, str]]) -> bytes:
    if file.suffix != ".gz":
        with file.open("rb") as plain:
            if os.fstat(plain.fileno()).st_size > _MAX_BYTES:
                damages.append((file, f"it has more than {_MAX_BYTES:,} bytes"))
            return plain.read(_MAX_BYTES)
    content = bytearray()
    try:
        with gzip.open(file) as stream:
            while len(content) <= _MAX_BYTES and (part := stream.read1(ROTATE_BYTES)):
                content += part
        if len(content) > _MAX_BYTES:
            damages.append((file, f"it holds more than {_MAX_BYTES:,} bytes"))
    except FileNotFoundError:
        raise
    except (OSError, EOFError, zlib.error) as error:
        damages.append((file, str(error)))
    return bytes(content)


def _rows_of(file: Path, lines: Iterable[bytes], on_damage: OnDamage) -> Iterator[Row]:
    bad = 0
    for line in lines:
        row = _parse(line)
        if row is not None:
            yield row
        elif line.endswith(b"\n"):
            bad += 1
    if bad:
        on_damage(file, f"{bad} {'line is' if bad == 1 else 'lines are'} not a JSON object")


def _parse(line: bytes) -> Row | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def read_rows(path: Path, on_damage: OnDamage = warn_of_damage) -> list[Row]:
    """Reads metrics without the rows that a resumed run replaced.

    A run that resumes from an earlier checkpoint repeats some steps; its rows replace those of an
    earlier session with the same or more steps.
    """
    return _without_repeats(read_lines(path, on_damage), SESSION, STEPS)


def read_episodes(path: Path, on_damage: OnDamage = warn_of_damage) -> list[Row]:
    """Reads episodes without those that a resumed run replaced, as `read_rows` does."""
    return _without_repeats(read_lines(path, on_damage), "session", "update")


def _without_repeats(lines: Iterable[Row], session_name: str, place_name: str) -> list[Row]:
    rows: list[Row] = []
    for row in lines:
        place, session = finite(row, place_name), finite(row, session_name)
        while rows and place is not None and session is not None:
            before = finite(rows[-1], session_name)
            if before is None or before >= session or (finite(rows[-1], place_name) or 0) < place:
                break
            rows.pop()
        rows.append(row)
    return rows


def first_line(path: Path) -> Row | None:
    """Returns the oldest object of a stream without reading all of it; None if it is damaged."""
    for file in segments(path):
        try:
            with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as stream:
                return _parse(stream.readline(_HEAD_BYTES))
        except (OSError, EOFError, zlib.error):
            return None
    return None


def last_line(path: Path, on_damage: OnDamage = warn_of_damage) -> Row | None:
    """Returns the newest complete object of a stream without reading all of it.

    Damage is reported only for the part that was read.
    """
    for file in _newest_first(path):
        for size in _TAIL_BYTES:
            lines, complete = _tail(file, size, on_damage)
            newest = next((row for line in reversed(lines) if (row := _parse(line))), None)
            if newest is None and not complete:
                continue  # A larger part of the file may contain one.
            # Lines that look like objects are not parsed, to keep `warpzone runs list` fast.
            list(_rows_of(file, [line for line in lines if not _looks_whole(line)], on_damage))
            if newest is not None:
                return newest
            break
    return None


def _newest_first(path: Path) -> Iterator[Path]:
    """Yields the files of a stream; the folder is not listed for the first one."""
    if path.is_file():
        yield path
    yield from (file for _, file in reversed(rotated_files(path)) if file.is_file())


def _looks_whole(line: bytes) -> bool:
    return line[:1] == b"{" and line[-2:] in (b"}\n", b"\r\n")


def _tail(file: Path, size: int, on_damage: OnDamage) -> tuple[list[bytes], bool]:
    """Returns the last lines of a file, and whether no larger part will be read."""
    try:
        if file.suffix == ".gz":
            damages: list[tuple[Path, str]] = []
            content = _read_segment(file, damages)
            for damage in damages:
                on_damage(*damage)
            return content.splitlines(keepends=True), True
        with file.open("rb") as stream:
            begin = max(0, stream.seek(0, os.SEEK_END) - size)
            stream.seek(begin)
            lines = stream.read().splitlines(keepends=True)
    except FileNotFoundError:
        return [], True
    # The first line may be incomplete.
    return (lines[1:], size == _TAIL_BYTES[-1]) if begin > 0 else (lines, True)


def finite(row: Mapping[str, Any], name: str) -> float | None:
    """Returns a number of a row, or None if it is missing or not finite."""
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:  # An integer beyond the range of a float.
        return None
