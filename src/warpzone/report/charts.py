"""Learning curves of a page: figures as data, which the page's script draws."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warpzone.telemetry.metric_table import MetricTable
from warpzone.telemetry.series import curves

TOOLBAR = (
    '<div class="toolbar"></div>'
    '<noscript><p class="note">The charts of this page need JavaScript.</p></noscript>'
)
"""Where the page's script puts smoothing, scale and axis of all charts; once per page."""

AXES = ("steps", "time")
_SPARK_POINTS = 160
_MAX_LINES = 8

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Chart:
    """Description of a chart.

    Attributes:
        title: Title above the chart.
        lines: Label of each line and the metric it shows.
        is_rate: Values are rates; the axis runs from 0 to 1.
    """

    title: str
    lines: Mapping[str, str]
    is_rate: bool = False


RUN_CHARTS = (
    Chart("Clear rate", {"last 100 episodes": "rollout/clear_rate"}, is_rate=True),
    Chart(
        "Distance (pixels)",
        {
            "median": "episode/progress_p50",
            "90th percentile": "episode/progress_p90",
            "best": "episode/progress_best",
        },
    ),
    Chart("Return", {"mean": "episode/return_mean", "median": "episode/return_p50"}),
    Chart("Losses", {"policy": "loss/policy", "value": "loss/value"}),
    Chart("Entropy and KL divergence", {"entropy": "learn/entropy", "KL": "learn/approx_kl"}),
    Chart("Speed (steps per second)", {"steps/s": "speed/steps_per_second"}),
)
CLEAR_RATE = RUN_CHARTS[0]


def draw_charts(rows: Rows, points: int = 400) -> str:
    """Returns all charts of a run; charts without data are omitted.

    Args:
        rows: Metrics of the run.
        points: Largest number of points per line.
    """
    table = MetricTable.of(rows)
    levels = [name for name in table.names if name.startswith("level/clear_rate/")]
    charts: Sequence[Chart] = RUN_CHARTS
    if 1 < len(levels) <= _MAX_LINES:
        by_level = {name.rpartition("/")[2]: name for name in levels}
        charts = (CLEAR_RATE, Chart("Clear rate by level", by_level, is_rate=True), *charts[1:])
    return figures_html(_figure(chart, table, points) for chart in charts)


def figures_html(figures: Iterable[Mapping[str, Any]]) -> str:
    """Returns figures as data for the page's script; an empty string if all are without data.

    Args:
        figures: Each with its `title`, whether it `is_rate`, and `curves`: a label, and for each of
            `AXES` the lists `x`, `y` and perhaps `low` and `high`.
    """
    drawn = [figure for figure in figures if any(curve["steps"]["x"] for curve in figure["curves"])]
    if not drawn:
        return ""
    return f'<div class="charts"><script type="application/json">{_json(drawn)}</script></div>'


def _figure(chart: Chart, table: MetricTable, points: int) -> dict[str, Any]:
    names = list(chart.lines.values())
    by_axis = {axis: curves(table, names, axis=axis, points=points) for axis in AXES}
    lines = [
        {"label": label} | {axis: by_axis[axis][metric] for axis in AXES}
        for label, metric in chart.lines.items()
    ]
    return {"title": chart.title, "is_rate": chart.is_rate, "curves": lines}


def draw_sparkline(rows: Rows) -> str:
    """Draws the clear rate without axes; returns an empty string if there is no data."""
    metric = CLEAR_RATE.lines["last 100 episodes"]
    found = curves(MetricTable.of(rows), [metric], axis="steps", points=_SPARK_POINTS)[metric]
    if not found["x"]:
        return ""
    width, height = 220.0, 44.0
    end = found["x"][-1] or 1.0
    path = " ".join(
        f"{'M' if index == 0 else 'L'}{width * x / end:.1f} {2 + (height - 4) * (1 - y):.1f}"
        for index, (x, y) in enumerate(zip(found["x"], found["y"], strict=True))
    )
    label = "clear rate during training"
    return (
        f'<svg class="spark" viewBox="0 0 {width:g} {height:g}" preserveAspectRatio="none" '
        f'role="img" aria-label="{label}"><path class="line s0" d="{path}"/></svg>'
    )


def _json(data: Any) -> str:
    """Serializes to JSON that cannot close the surrounding script element."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
