"""Comparisons of two measurements, as tables and JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from warpzone.bench.machine import machine_info


@dataclass(frozen=True)
class Comparison:
    """One row of the table: two measurements, their ratio and the required ratio."""

    what: str
    ours: str
    other: str
    result: float
    unit: str  # "x" or "%"
    bar: float
    lower_is_better: bool = False

    @property
    def met(self) -> bool:
        """Whether the result meets the bar."""
        return self.result < self.bar if self.lower_is_better else self.result >= self.bar

    def cells(self) -> tuple[str, ...]:
        """Returns the table cells."""
        sign = "<" if self.lower_is_better else "≥"
        result = f"{self.result:.1f} {self.unit}" if self.unit == "%" else f"{self.result:.2f}x"
        bar = f"{sign} {self.bar:g}{' %' if self.unit == '%' else 'x'}"
        return self.what, self.ours, self.other, result, bar, "yes" if self.met else "no"


HEADINGS = ("what", "ours", "other", "result", "bar", "met")


def markdown(rows: list[Comparison]) -> str:
    """Returns a Markdown table."""
    lines = [HEADINGS, tuple("---" for _ in HEADINGS), *(row.cells() for row in rows)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def as_json(rows: list[Comparison]) -> dict[str, Any]:
    """Returns the comparisons and the machine as JSON-serializable data."""
    return {"machine": machine_info(), "rows": [asdict(row) | {"met": row.met} for row in rows]}
