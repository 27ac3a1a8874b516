"""Charts of a sweep as inline SVG: best so far, parallel coordinates, importance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape

_WIDTH, _HEIGHT = 480, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 16, 14, 28
_WIDE, _TALL = 1000, 300
_BAR = 26
_MOST_ENLARGED = 1.25  # Labels grow with a chart.

Value = float | str
"""A value on an axis: a number, or the name of a choice."""


def draw_best(points: Sequence[tuple[float, float]], write: Callable[[float], str]) -> str:
    """Draws the best value so far against hours of training; '' without points.

    Args:
        points: Hours and the best value from then on.
        write: Formats a value.
    """
    if not points:
        return ""
    values = [value for _, value in points]
    low, high = min(values), max(values)
    end = points[-1][0] or 1.0

    def place(hours: float, value: float) -> tuple[float, float]:
        up = 0.5 if low == high else (value - low) / (high - low)
        across = hours / end
        return (
            _LEFT + across * (_WIDTH - _LEFT - _RIGHT),
            _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM),
        )

    path, before = [], points[0][1]
    for hours, value in points:
        path += [place(hours, before), place(hours, value)]
        before = value
    text = [
        _text(_LEFT - 8, place(0, value)[1] + 4, write(value), "end")
        for value in dict.fromkeys((low, high))
    ]
    text += [
        _text(_LEFT, _HEIGHT - 8, "0 h", "start"),
        _text(_WIDTH - _RIGHT, _HEIGHT - 8, f"{end:.3g} h", "end"),
    ]
    return _figure("Best result so far", _WIDTH, _HEIGHT, _line(path, "s0") + "".join(text))


def draw_parallel(
    axes: Mapping[str, Sequence[Value]], logarithmic: Sequence[str], best: Sequence[int]
) -> str:
    """Draws one line per trial through an axis per parameter and result; '' without trials.

    Args:
        axes: Values of all trials, by axis.
        logarithmic: Axes with a logarithmic scale.
        best: Indices of the best trials, which are highlighted.
    """
    count = min((len(values) for values in axes.values()), default=0)
    if not count:
        return ""
    left, right = 40.0, _WIDE - 40.0
    gap = (right - left) / max(1, len(axes) - 1)
    heights: list[list[float]] = []
    parts = []
    for index, (name, values) in enumerate(axes.items()):
        x = left + index * gap
        shares, low, high = _shares(values, name in logarithmic)
        heights.append([_TALL - 40 - share * (_TALL - 80) for share in shares])
        parts.append(
            f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="40" y2="{_TALL - 40}"/>'
            f"{_text(x, 16, name, 'middle')}{_text(x, 32, high, 'middle')}"
            f"{_text(x, _TALL - 22, low, 'middle')}"
        )
    ordered = [trial for trial in range(count) if trial not in best] + list(best)
    lines = [
        _line(
            [(left + axis * gap, column[trial]) for axis, column in enumerate(heights)],
            "s1" if trial in best else "s0",
            opacity=1.0 if trial in best else 0.3,
        )
        for trial in ordered
    ]
    drawing = "".join(parts) + "".join(lines)
    return _figure("Trials; the best in another color", _WIDE, _TALL, drawing)


def draw_importance(shares: Mapping[str, float]) -> str:
    """Draws a bar per parameter; '' without parameters."""
    if not shares:
        return ""
    largest = max(shares.values()) or 1.0
    parts = []
    for index, (name, share) in enumerate(shares.items()):
        y = 8 + index * _BAR
        width = 230 * max(0.0, share) / largest
        parts.append(
            f"{_text(170, y + 14, name, 'end')}"
            f'<path class="line s0" style="stroke-width:12" d="M180 {y + 10}h{width:.1f}"/>'
            f"{_text(190 + width, y + 14, f'{share:.0%}', 'start')}"
        )
    return _figure("Importance", _WIDTH, 16 + _BAR * len(shares), "".join(parts))


def _shares(values: Sequence[Value], logarithmic: bool) -> tuple[list[float], str, str]:
    """Positions on an axis from 0 to 1, and the labels of its ends."""
    if any(isinstance(value, str) for value in values):
        names = sorted({str(value) for value in values})
        last = max(1, len(names) - 1)
        return [names.index(str(value)) / last for value in values], names[0], names[-1]
    numbers = [float(value) for value in values]
    low, high = min(numbers), max(numbers)
    if low == high:
        return [0.5 for _ in numbers], f"{low:.3g}", f"{high:.3g}"
    scale = math.log if logarithmic else float
    begin, length = scale(low), scale(high) - scale(low)
    return [(scale(number) - begin) / length for number in numbers], f"{low:.3g}", f"{high:.3g}"


def _line(points: Sequence[tuple[float, float]], style: str, opacity: float = 1.0) -> str:
    path = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return f'<path class="line {style}" stroke-opacity="{opacity:g}" d="{path}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _figure(title: str, width: int, height: int, drawing: str) -> str:
    return (
        f'<figure class="drawing"><figcaption><h3>{escape(title)}</h3></figcaption>'
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}" '
        f'style="max-width:{width * _MOST_ENLARGED:.0f}px">'
        f"{drawing}</svg></figure>"
    )
