"""Metrics of the replay buffer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = dict[str, float | int]


class SampleMetrics:
    """Measures how many distinct transitions samples contain, and how long sampling takes."""

    def __init__(self) -> None:
        """Creates empty metrics."""
        self._samples = 0
        self._unique_last = self._unique_sum = 0.0
        self._draw_seconds = self._gather_seconds = 0.0

    def note(self, indices: NDArray[np.int64], draw: float, gather: float) -> None:
        """Records a sample: its indices, and the seconds for drawing and gathering it."""
        self._samples += 1
        self._unique_last = len(np.unique(indices)) / len(indices)
        self._unique_sum += self._unique_last
        self._draw_seconds += draw
        self._gather_seconds += gather

    def take(self) -> Row:
        """Returns seconds since the last call and ratios of the run; empty without samples."""
        if not self._samples:
            return {}
        draw, gather = self._draw_seconds, self._gather_seconds
        self._draw_seconds = self._gather_seconds = 0.0
        return {
            "replay/unique_ratio_last": self._unique_last,
            "replay/unique_ratio_mean": self._unique_sum / self._samples,
            "replay/sample_seconds": draw + gather,
            "replay/draw_seconds": draw,
            "replay/gather_seconds": gather,
        }

    def state_dict(self) -> dict[str, Any]:
        """Returns the ratios of the whole run."""
        return {"samples": self._samples, "last": self._unique_last, "sum": self._unique_sum}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self._samples, self._unique_last = state["samples"], state["last"]
        self._unique_sum = state["sum"]


def priority_metrics(weights: NDArray[np.float64]) -> Row:
    """Summarizes the distribution of the priorities."""
    if not len(weights):
        return {}
    p50, p90, p99 = np.percentile(weights, (50, 90, 99))
    return {
        "replay/priority_mean": float(weights.mean()),
        "replay/priority_p50": float(p50),
        "replay/priority_p90": float(p90),
        "replay/priority_p99": float(p99),
    }
