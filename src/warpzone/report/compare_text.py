"""The comparison of runs as text for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from warpzone.report.text_plot import draw, style_for
from warpzone.runs.comparison import ComparedRun, compared_curves, option_differences
from warpzone.telemetry.metrics import find_metric
from warpzone.telemetry.terminal import duration, short

_POINTS = 400
_FRACTION = "fraction"


@dataclass(frozen=True)
class MetricPlot:
    """One metric of several runs.

    Attributes:
        title: The metric, its unit and the axis.
        lines: The drawing.
        margin: Columns of a line before the curves.
        legend: What each curve is, and its last and best values.
    """

    title: str
    lines: list[str]
    margin: int
    legend: list[str]


def plot_metric(
    runs: Sequence[ComparedRun],
    metric: str,
    *,
    axis: str,
    width: int,
    height: int,
    encoding: str | None,
) -> MetricPlot:
    """Draws a metric of several runs, at least one of which has it.

    Args:
        runs: Runs to compare.
        metric: Metric to draw.
        axis: 'steps' or 'time'.
        width: Columns of the terminal.
        height: Lines of the drawing.
        encoding: Encoding of the terminal; the drawing uses only what it has.
    """
    curves = compared_curves(runs, metric, axis=axis, points=_POINTS)
    known = find_metric(metric)
    unit = known.unit if known is not None else ""
    is_rate = unit == _FRACTION
    write = _percent if is_rate else _number
    plot = draw(
        curves,
        width=width,
        height=height,
        write_x=short if axis == "steps" else duration,
        write_y=write,
        bounds=(0.0, 1.0) if is_rate else None,
        style=style_for(encoding),
    )
    by = "environment steps" if axis == "steps" else "training time"
    title = f"{metric}{f' ({unit})' if unit and not is_rate else ''} by {by}"
    return MetricPlot(title, plot.lines, plot.margin, [_legend(curve, write) for curve in curves])


def difference_rows(runs: Sequence[ComparedRun]) -> list[tuple[str, ...]]:
    """Options that differ, with a value per run."""
    rows = option_differences([run.config for run in runs])
    return [(row.option, *(_value(value) for value in row.values)) for row in rows]


def _legend(curve: dict[str, Any], write: Callable[[float], str]) -> str:
    if not curve["y"]:
        return f"{curve['label']}: no values"
    last, low, high = curve["y"][-1], min(curve["y"]), max(curve["y"])
    return f"{curve['label']}: last {write(last)}, from {write(low)} to {write(high)}"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value)) or "-"
    return str(value) if value != "" else "-"


def _percent(value: float) -> str:
    return f"{value:.0%}"


def _number(value: float) -> str:
    return short(value) if value >= 1000 else f"{value:.3g}"
