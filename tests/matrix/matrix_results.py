"""The results of the matrix: a JSON file from which the documentation's tables are generated."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[2] / "docs" / "compatibility.json"
Row = dict[str, Any]


def read_results(path: Path = FILE) -> dict[str, Row]:
    """Returns the rows by cell; a run of some cells keeps the rows of the others."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write_results(rows: dict[str, Row], path: Path = FILE) -> None:
    """Writes the rows in the order of their cells."""
    path.write_text(json.dumps(rows, indent=2, sort_keys=True) + "\n", encoding="utf-8")


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
