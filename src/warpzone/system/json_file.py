"""JSON that somebody else may have written: bounded in size and depth, and checked by type."""

from __future__ import annotations

import json
import math
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

_MOST_BYTES = 16 * 1024 * 1024
_SHOWN_CHARACTERS = 60
_KINDS: dict[type, str] = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
    dict: "a table",
    list: "a list",
}


def read_bytes(path: Path, most_bytes: int = _MOST_BYTES) -> bytes:
    """Reads a regular file of limited size, so that neither a device nor a bomb is read.

    Raises:
        OSError: It cannot be read.
        ValueError: It is not a regular file, or larger than allowed.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("it is not a regular file")
    if status.st_size > most_bytes:
        raise ValueError(f"it has {status.st_size:,} bytes; at most {most_bytes:,} are read")
    with path.open("rb") as file:
        return file.read(most_bytes)


def read_json(path: Path, most_bytes: int = _MOST_BYTES) -> Any:
    """Reads a JSON file.

    Raises:
        OSError: It cannot be read.
        ValueError: It is not JSON, or larger or deeper than anything that warpzone writes.
    """
    return parse_json(read_bytes(path, most_bytes))


def parse_json(data: bytes | str) -> Any:
    """Parses JSON; NaN and infinity, which JSON does not have, are refused.

    Raises:
        ValueError: It is not JSON, or nested too deeply.
    """
    try:
        return json.loads(data, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def entry(row: Any, name: str, kind: type[T], least: float | None = None) -> T:
    """Returns an entry of a table, which must be of a type.

    Args:
        row: The table.
        name: The entry.
        kind: int, float (which takes finite whole numbers too), str, bool, dict or list.
        least: The smallest number allowed.

    Raises:
        ValueError: There is no such entry, or it is something else; the text says what.
    """
    if not isinstance(row, Mapping):
        raise ValueError(f"it is {_shown(row)}; it must be a table")
    if name not in row:
        raise ValueError(f"it has no '{name}'")
    value: Any = row[name]
    if kind is float and type(value) is int and abs(value) <= sys.float_info.max:
        value = float(value)
    if type(value) is not kind or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"'{name}' is {_shown(value)}; it must be {_KINDS[kind]}")
    found: T = value
    if least is not None and row[name] < least:
        raise ValueError(f"'{name}' is {_shown(row[name])}; it must be at least {least:g}")
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _shown(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
