"""Curves as lines of text, for terminals; one character per curve, so that no color is needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MARKERS = "*+xo#%@&ABCDEFGH"
"""The character of each curve, in the order of the curves."""

_LEAST_WIDTH, _LEAST_HEIGHT = 12, 4

Write = Callable[[float], str]


@dataclass(frozen=True)
class Style:
    """Characters of everything but the curves.

    Attributes:
        side: Vertical axis.
        tick: Vertical axis where a value is written.
        corner: Where the axes meet.
        bottom: Horizontal axis.
        band: Between the lowest and the highest seed.
    """

    side: str
    tick: str
    corner: str
    bottom: str
    band: str


UNICODE = Style("│", "┤", "└", "─", "░")
ASCII = Style("|", "+", "+", "-", ".")


def style_for(encoding: str | None) -> Style:
    """The characters that an encoding has."""
    try:
        "".join(vars(UNICODE).values()).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


@dataclass(frozen=True)
class Plot:
    """A drawing.

    Attributes:
        lines: Its lines.
        margin: Columns before the curves.
    """

    lines: list[str]
    margin: int


def draw(
    curves: Sequence[Mapping[str, Any]],
    *,
    width: int,
    height: int,
    write_x: Write,
    write_y: Write,
    bounds: tuple[float, float] | None = None,
    style: Style = UNICODE,
) -> Plot:
    """Draws curves.

    Args:
        curves: Each with lists `x`, ascending, and `y`, and perhaps `low` and `high`; at most as
            many as there are `MARKERS`, at least one of them with a point.
        width: Columns of the drawing.
        height: Lines of the drawing, without the horizontal axis and its labels.
        write_x: Formats a position.
        write_y: Formats a value.
        bounds: Lowest and highest value of the axis; by default, those of the curves.
        style: Characters to draw with.
    """
    height = max(_LEAST_HEIGHT, height)
    low, high = bounds or _bounds(curves)
    ticks = [high - (high - low) * row / (height - 1) for row in range(height)]
    every = max(1, round((height - 1) / 4))
    labels = [write_y(value) if row % every == 0 else "" for row, value in enumerate(ticks)]
    margin = max(map(len, labels)) + 2
    columns = max(_LEAST_WIDTH, width - margin)
    first = min(curve["x"][0] for curve in curves if curve["x"])
    last = max(curve["x"][-1] for curve in curves if curve["x"])
    canvas = _Canvas(columns, height, (first, last), (low, high))
    for curve in curves:
        if "low" in curve:
            canvas.fill_band(curve, style.band)
    for index, curve in enumerate(curves):
        canvas.add_curve(curve, index)
    canvas.put_curves()
    lines = [
        f"{label:>{margin - 2}} {style.tick if label else style.side}{row}"
        for label, row in zip(labels, canvas.rows(), strict=True)
    ]
    lines.append(" " * (margin - 1) + style.corner + style.bottom * columns)
    begin, end = write_x(first), write_x(last)
    lines.append(" " * margin + begin + end.rjust(columns - len(begin)))
    return Plot(lines, margin)


class _Canvas:
    """Characters in rows; curves that meet in a cell share it column by column."""

    def __init__(
        self, columns: int, height: int, span: tuple[float, float], bounds: tuple[float, float]
    ) -> None:
        self._cells = [[" "] * columns for _ in range(height)]
        self._visitors: dict[tuple[int, int], list[int]] = {}
        begin, end = span
        self._edges = np.linspace(begin, end if end > begin else begin + 1.0, columns + 1)
        self._low, self._high = bounds

    def rows(self) -> list[str]:
        return ["".join(row).rstrip() for row in self._cells]

    def fill_band(self, curve: Mapping[str, Any], character: str) -> None:
        lows, highs = self._values(curve, "low"), self._values(curve, "high")
        for column, (low, high) in enumerate(zip(lows, highs, strict=True)):
            if math.isfinite(low) and math.isfinite(high):
                for row in range(self._row(high), self._row(low) + 1):
                    self._cells[row][column] = character

    def add_curve(self, curve: Mapping[str, Any], index: int) -> None:
        before: int | None = None
        for column, value in enumerate(self._values(curve, "y")):
            if not math.isfinite(value):
                before = None
                continue
            row = self._row(value)
            # A steep rise fills the column up to where the curve was, so that it stays a line.
            begin = row if before is None else before + (row > before) - (row < before)
            for each in range(min(begin, row), max(begin, row) + 1):
                self._visitors.setdefault((each, column), []).append(index)
            before = row

    def put_curves(self) -> None:
        for (row, column), indices in self._visitors.items():
            self._cells[row][column] = MARKERS[indices[column % len(indices)] % len(MARKERS)]

    def _row(self, value: float) -> int:
        up = (value - self._low) / (self._high - self._low)
        return min(max(round((1 - up) * (len(self._cells) - 1)), 0), len(self._cells) - 1)

    def _values(self, curve: Mapping[str, Any], name: str) -> NDArray[np.float64]:
        """The mean value in each column; between points, the line between them."""
        x, y = np.asarray(curve["x"], float), np.asarray(curve[name], float)
        centers = (self._edges[:-1] + self._edges[1:]) / 2
        if not x.size:
            return np.full(centers.size, np.nan)
        values = np.interp(centers, x, y, left=np.nan, right=np.nan)
        column = np.clip(np.searchsorted(self._edges, x, side="right") - 1, 0, centers.size - 1)
        count = np.bincount(column, minlength=centers.size)
        total = np.bincount(column, weights=y, minlength=centers.size)
        return np.where(count > 0, total / np.maximum(count, 1), values)


def _bounds(curves: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    values = [
        value
        for curve in curves
        for name in ("y", "low", "high")
        if name in curve
        for value in curve[name]
    ]
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)
