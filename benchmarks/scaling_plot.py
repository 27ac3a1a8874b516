"""SVG plots with two logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 860, 440
LEFT, RIGHT, TOP, BOTTOM = 60, 260, 20, 50
COLORS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd")
COLORS_AFTER = ("#17becf", "#bcbd22", "#8c564b", "#e377c2", "#7f7f7f")


@dataclass(frozen=True)
class Line:
    """Line of a plot, with its name in the legend."""

    name: str
    points: Sequence[tuple[float, float]]
    dashed: bool = False


class _Axis:
    """Maps values to positions on a logarithmic axis."""

    def __init__(self, values: Sequence[float], begin: float, end: float, base: int) -> None:
        self.first = math.floor(math.log(min(values), base))
        self.last = max(math.ceil(math.log(max(values), base)), self.first + 1)
        self._begin, self._end, self._base = begin, end, base

    def __call__(self, value: float) -> float:
        part = (math.log(value, self._base) - self.first) / (self.last - self.first)
        return self._begin + part * (self._end - self._begin)

    def ticks(self) -> list[int | float]:
        """Returns the powers of the base within the axis."""
        return [self._base**power for power in range(self.first, self.last + 1)]


def log_plot(lines: Sequence[Line], *, x_label: str, y_label: str) -> str:
    """Returns an SVG image of the lines, with a grid and a legend."""
    points = [point for line in lines for point in line.points]
    x = _Axis([point[0] for point in points], LEFT, WIDTH - RIGHT, base=2)
    y = _Axis([point[1] for point in points], HEIGHT - BOTTOM, TOP, base=10)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        *_grid(x, y),
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"{escape(x_label)}</text>",
        f'<text transform="translate(14 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">'
        f"{escape(y_label)}</text>",
    ]
    palette = (*COLORS, *COLORS_AFTER)
    for index, line in enumerate(lines):
        color = palette[index % len(palette)]
        style = f'stroke="{color}" fill="none" stroke-width="1.8"'
        style += ' stroke-dasharray="5 4"' if line.dashed else ""
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in line.points)
        row = TOP + 10 + 20 * index
        begin = WIDTH - RIGHT + 16
        parts += [
            f'<polyline points="{path}" {style}/>',
            f'<line x1="{begin}" y1="{row}" x2="{begin + 24}" y2="{row}" {style}/>',
            f'<text x="{begin + 30}" y="{row + 4}">{escape(line.name)}</text>',
        ]
    return "\n".join([*parts, "</svg>\n"])


def _grid(x: _Axis, y: _Axis) -> Iterator[str]:
    top, bottom, left, right = TOP, HEIGHT - BOTTOM, LEFT, WIDTH - RIGHT
    for tick in x.ticks():
        at = f"{x(tick):.1f}"
        yield f'<line x1="{at}" y1="{top}" x2="{at}" y2="{bottom}" stroke="#ddd"/>'
        yield f'<text x="{at}" y="{bottom + 16}" text-anchor="middle">{tick:g}</text>'
    for tick in y.ticks():
        at = f"{y(tick):.1f}"
        yield f'<line x1="{left}" y1="{at}" x2="{right}" y2="{at}" stroke="#ddd"/>'
        yield f'<text x="{left - 6}" y="{float(at) + 4:.1f}" text-anchor="end">{tick:g}</text>'
