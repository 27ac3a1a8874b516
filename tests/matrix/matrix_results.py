"""The results of the matrix: a JSON file from which the documentation's tables are generated."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from warpzone.system.atomic_file import write_text_atomically
from warpzone.system.file_lock import file_lock

FILE = Path(__file__).resolve().parents[2] / "docs" / "compatibility.json"
Row = dict[str, Any]
_LOCK_SECONDS = 60.0


def read_results(path: Path = FILE) -> dict[str, Row]:
    """Returns the rows by cell."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def record_result(
    name: str, row: Row, not_run: dict[str, Row], lock: Path, path: Path = FILE
) -> None:
    """Writes the row of a cell that has just run, and keeps the rows of the others.

    Args:
        name: The cell.
        row: Its result.
        not_run: Rows of all cells before they run, for those that the file lacks.
        lock: File for a lock: native cells may run in another process at the same time.
        path: The file.
    """
    with file_lock(lock, _LOCK_SECONDS):
        rows = not_run | read_results(path) | {name: row}
        write_text_atomically(path, json.dumps(rows, indent=2, sort_keys=True) + "\n")


def passed_cells(rows: dict[str, Row], commit: str) -> set[str]:
    """Returns the cells that ran with a commit and passed."""
    ran = {name for name, row in rows.items() if "environment" in row or row.get("tests")}
    return {name for name in ran if rows[name].get("commit") == commit and not failed(rows[name])}


def failed(row: Row) -> bool:
    """Returns whether something ran and failed. What cannot run here does not count."""
    return bool(row.get("failed"))


def printed_table(rows: Iterable[Row], columns: tuple[str, ...]) -> str:
    """Returns an aligned table of plain text, with the reasons below the rows they belong to."""
    rows = list(rows)
    cells = [[str(row.get(column, "")) for column in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    lines = [_aligned(columns, widths)]
    for row, texts in zip(rows, cells, strict=True):
        lines.append(_aligned(texts, widths))
        if row.get("reason"):
            lines.append(f"    {row['reason']}")
    return "\n".join(lines)


def _aligned(texts: Iterable[str], widths: list[int]) -> str:
    padded = (text.ljust(width) for text, width in zip(texts, widths, strict=True))
    return "  ".join(padded).rstrip()
