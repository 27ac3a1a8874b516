"""Line charts as inline SVG; the page's style sheet provides the colours for light and dark."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from warpzone.telemetry.metrics import STEPS
from warpzone.telemetry.reading import finite
from warpzone.telemetry.terminal import short

_WIDTH, _HEIGHT = 480, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 12, 10, 26
_MAX_POINTS = 160
_MAX_LINES = 4

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Chart:
    """Description of a chart.

    Attributes:
        title: Title above the chart.
        lines: Label of each line and the metric it shows.
        format: Formats a value.
        is_rate: Values are rates; the axis runs from 0 to 1.
        from_zero: The axis starts at 0.
    """

    title: str
    lines: Mapping[str, str]
    format: Callable[[float], str]
    is_rate: bool = False
    from_zero: bool = False


def percent(value: float) -> str:
    """Formats 0.5 as 50 %."""
    return f"{100 * value:.0f} %"


def number(value: float) -> str:
    """Formats a number with about three significant digits."""
    return short(value) if value >= 1000 else f"{value:.3g}"


def pixels(value: float) -> str:
    """Formats a distance in pixels."""
    return f"{value:,.0f} px"


RUN_CHARTS = (
    Chart("Clear rate", {"last 100 episodes": "rollout/clear_rate"}, percent, is_rate=True),
    Chart(
        "Distance",
        {
            "median": "episode/progress_p50",
            "90th percentile": "episode/progress_p90",
            "best": "episode/progress_best",
        },
        pixels,
        from_zero=True,
    ),
    Chart("Return", {"mean": "episode/return_mean", "median": "episode/return_p50"}, number),
    Chart("Losses", {"policy": "loss/policy", "value": "loss/value"}, number),
    Chart(
        "Entropy and KL divergence", {"entropy": "learn/entropy", "KL": "learn/approx_kl"}, number
    ),
    Chart(
        "Speed (steps per second)", {"steps/s": "speed/steps_per_second"}, number, from_zero=True
    ),
)
CLEAR_RATE = RUN_CHARTS[0]


def draw_charts(rows: Rows) -> str:
    """Draws all charts of a run; charts without data are omitted."""
    levels = sorted({name for row in rows for name in row if name.startswith("level/clear_rate/")})
    charts: Sequence[Chart] = RUN_CHARTS
    if 1 < len(levels) <= _MAX_LINES:
        by_level = {name.rpartition("/")[2]: name for name in levels}
        charts = (CLEAR_RATE, Chart("Clear rate by level", by_level, percent, True), *charts[1:])
    drawn = [draw_chart(chart, rows) for chart in charts]
    return f'<div class="charts">{"".join(drawn)}</div>'


def draw_chart(chart: Chart, rows: Rows) -> str:
    """Draws one chart with its legend; returns an empty string if there is no data."""
    lines = {name: _points(rows, metric) for name, metric in chart.lines.items()}
    lines = {name: points for name, points in lines.items() if points}
    if not lines:
        return ""
    axes = _axes(chart, list(lines.values()))
    paths = [
        f'<path class="line s{index}" d="{_path(axes, points)}"/>'
        for index, points in enumerate(lines.values())
    ]
    legend = [
        f'<span><i class="s{index}"></i>{escape(name)} <b data-line="{index}" '
        f'data-last="{escape(chart.format(points[-1][1]))}">{escape(chart.format(points[-1][1]))}'
        "</b></span>"
        for index, (name, points) in enumerate(lines.items())
    ]
    label = f"{chart.title} by environment steps"
    data = {
        "axis": [axes.x0, axes.x1, _LEFT, _WIDTH - _RIGHT, _WIDTH],
        "lines": [[[x, chart.format(y)] for x, y in points] for points in lines.values()],
    }
    return (
        f'<figure class="chart"><figcaption><h3>{escape(chart.title)}</h3>'
        f'<div class="legend">{"".join(legend)}</div></figcaption>'
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(label)}">'
        f"{_grid(chart, axes)}{''.join(paths)}"
        f'<line class="cursor" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}" visibility="hidden"/></svg>'
        f'<script type="application/json">{_json(data)}</script></figure>'
    )


def draw_sparkline(rows: Rows) -> str:
    """Draws the clear rate without axes; returns an empty string if there is no data."""
    points = _points(rows, CLEAR_RATE.lines["last 100 episodes"])
    if not points:
        return ""
    width, height = 220.0, 44.0
    end = points[-1][0] or 1.0
    path = " ".join(
        f"{'M' if index == 0 else 'L'}{width * x / end:.1f} {2 + (height - 4) * (1 - y):.1f}"
        for index, (x, y) in enumerate(points)
    )
    label = "clear rate during training"
    return (
        f'<svg class="spark" viewBox="0 0 {width:g} {height:g}" preserveAspectRatio="none" '
        f'role="img" aria-label="{label}"><path class="line s0" d="{path}"/></svg>'
    )


@dataclass(frozen=True)
class _Axes:
    """The range of both axes."""

    x0: float
    x1: float
    y0: float
    y1: float

    def to_pixels(self, x: float, y: float) -> tuple[float, float]:
        across = (x - self.x0) / (self.x1 - self.x0)
        up = (y - self.y0) / (self.y1 - self.y0)
        width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
        return _LEFT + width * across, _TOP + height * (1 - up)


Points = list[tuple[float, float]]


def _points(rows: Rows, metric: str) -> Points:
    """Steps and values of a metric, averaged in groups so that long runs give small pages."""
    measured = ((finite(row, STEPS), finite(row, metric)) for row in rows)
    found = [(float(x), float(y)) for x, y in measured if x is not None and y is not None]
    group = math.ceil(len(found) / _MAX_POINTS)
    if group <= 1:
        return found
    parts = [found[start : start + group] for start in range(0, len(found), group)]
    return [(part[-1][0], sum(y for _, y in part) / len(part)) for part in parts]


def _axes(chart: Chart, lines: list[Points]) -> _Axes:
    x1 = max(points[-1][0] for points in lines) or 1.0
    if chart.is_rate:
        return _Axes(0.0, x1, 0.0, 1.0)
    values = [y for points in lines for _, y in points]
    low, high = min(values), max(values)
    if chart.from_zero:
        low = min(low, 0.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    ticks = _ticks(low, high)
    return _Axes(0.0, x1, min(low, ticks[0]), max(high, ticks[-1]))


def _ticks(low: float, high: float, target_count: int = 4) -> list[float]:
    """Returns round numbers that cover a range."""
    rough = (high - low) / target_count
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [index * step for index in range(first, last + 1)]


def _grid(chart: Chart, axes: _Axes) -> str:
    parts = []
    ticks = [0.0, 0.25, 0.5, 0.75, 1.0] if chart.is_rate else _ticks(axes.y0, axes.y1)
    for value in ticks:
        if not axes.y0 <= value <= axes.y1:
            continue
        _, y = axes.to_pixels(axes.x0, value)
        text = chart.format(value).removesuffix(" px")
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        parts.append(
            f'<text x="{_LEFT - 7}" y="{y + 4:.1f}" text-anchor="end">{escape(text)}</text>'
        )
    for value in _ticks(0.0, axes.x1):
        if value > axes.x1:
            continue
        x, _ = axes.to_pixels(value, axes.y0)
        anchor = "start" if value == 0 else "end" if x > _WIDTH - 30 else "middle"
        parts.append(
            f'<text x="{x:.1f}" y="{_HEIGHT - 8}" text-anchor="{anchor}">{short(value)}</text>'
        )
    return "".join(parts)


def _path(axes: _Axes, points: Points) -> str:
    vertices = [axes.to_pixels(x, y) for x, y in points]
    if len(vertices) == 1:  # Draw a single point as a short dash.
        vertices.append((vertices[0][0] + 2, vertices[0][1]))
    return "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in vertices)


def _json(data: Any) -> str:
    """Serializes to JSON that cannot close the surrounding script element."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
