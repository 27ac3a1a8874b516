"""The metrics of a run as columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.telemetry.metrics import SESSION, STEPS

_MOST_COLUMNS = 1000
_NOT_A_NUMBER = math.nan


class MetricTable:
    """Columns of numbers, with NaN where a row has none; rows that a resume repeated are gone."""

    def __init__(self) -> None:
        """Begins without rows."""
        self._columns: dict[str, list[float]] = {STEPS: [], SESSION: []}
        self._rows = 0

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> MetricTable:
        """A table of these rows."""
        table = cls()
        for row in rows:
            table.append(row)
        return table

    def __len__(self) -> int:
        """Number of rows."""
        return self._rows

    @property
    def names(self) -> list[str]:
        """Names of all columns that hold a number."""
        return sorted(name for name, values in self._columns.items() if values)

    def column(self, name: str) -> NDArray[np.float64]:
        """The values of a metric, one per row; NaN throughout if nobody measured it."""
        values = np.full(self._rows, _NOT_A_NUMBER)
        found = self._columns.get(name, [])
        values[: len(found)] = found
        values[np.isinf(values)] = _NOT_A_NUMBER
        return values

    def append(self, row: Mapping[str, Any]) -> None:
        """Adds a row; it replaces those of an earlier session with the same or more steps."""
        self._drop_repeated(_number(row.get(SESSION)), _number(row.get(STEPS)))
        count = self._rows
        for name, value in row.items():
            column = self._columns.get(name)
            if column is None:
                if len(self._columns) >= _MOST_COLUMNS:
                    continue  # A damaged file may invent names without end.
                column = self._columns[name] = []
            missing = count - len(column)
            if missing:
                column.extend([_NOT_A_NUMBER] * missing)
            column.append(value if type(value) is float else _number(value))
        self._rows = count + 1

    def _drop_repeated(self, session: float, steps: float) -> None:
        sessions, places = self._columns[SESSION], self._columns[STEPS]
        keep = self._rows
        while keep and len(sessions) >= keep and sessions[keep - 1] < session:
            if len(places) < keep or not places[keep - 1] >= steps:
                break
            keep -= 1
        if keep < self._rows:
            for values in self._columns.values():
                del values[keep:]
            self._rows = keep


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _NOT_A_NUMBER
    try:
        number = float(value)
    except OverflowError:
        return _NOT_A_NUMBER
    return number if math.isfinite(number) else _NOT_A_NUMBER
