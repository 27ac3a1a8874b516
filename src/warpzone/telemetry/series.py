"""Curves for the charts: what the browser asks for, in as many points as it can draw."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.telemetry.downsample import downsample
from warpzone.telemetry.metric_table import MetricTable
from warpzone.telemetry.metrics import STEPS

AXES = {"steps": STEPS, "time": "run/elapsed", "clock": "run/time"}
MOST_POINTS = 4000


def curves(
    table: MetricTable,
    names: list[str],
    *,
    axis: str,
    points: int,
    low: float = -np.inf,
    high: float = np.inf,
) -> dict[str, Any]:
    """The curves of some metrics.

    Args:
        table: The metrics of a run.
        names: Metrics.
        axis: A name of `AXES`.
        points: Largest number of points per curve.
        low: First position of the visible range.
        high: Last position of the visible range.

    Returns:
        For each name, positions `x` and values `y`.
    """
    x = table.column(AXES[axis])
    inside = (x >= low) & (x <= high)
    most = max(4, min(points, MOST_POINTS))
    result: dict[str, Any] = {}
    for name in names:
        y = np.where(inside, table.column(name), np.nan)
        chosen = downsample(x, y, most)
        result[name] = {"x": rounded(x[chosen]), "y": rounded(y[chosen])}
    return result


def rounded(values: NDArray[np.float64]) -> list[float]:
    """Numbers with the digits that a chart can show."""
    return [float(f"{value:.7g}") if abs(value) < 1e6 else float(value) for value in values]
