"""Summary statistics, named as in the list of metrics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warpzone.telemetry.metrics import METRICS, MetricRow

_PERCENTILES = {"p10": 10, "p50": 50, "p90": 90, "p99": 99}


def summarize(prefix: str, values: Sequence[float] | NDArray[np.generic]) -> MetricRow:
    """Computes every listed statistic of a quantity.

    Args:
        prefix: Prefix of the names, such as 'episode/return' for `episode/return_mean`.
        values: Values to summarize; if there are none, the result is empty.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.size == 0:
        return {}
    row: MetricRow = {
        f"{prefix}_mean": float(numbers.mean()),
        f"{prefix}_std": float(numbers.std()),
        f"{prefix}_min": float(numbers.min()),
        f"{prefix}_max": float(numbers.max()),
    }
    at = np.percentile(numbers, list(_PERCENTILES.values()))
    row.update({f"{prefix}_{key}": float(x) for key, x in zip(_PERCENTILES, at, strict=True)})
    return {name: value for name, value in row.items() if name in METRICS}
