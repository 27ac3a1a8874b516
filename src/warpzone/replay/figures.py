"""What replay tells about itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Figures = dict[str, float | int]


class SampleFigures:
    """How many different transitions draws gave, and how long they took."""

    def __init__(self) -> None:
        """Begins with none."""
        self._draws = 0
        self._unique_last = self._unique_sum = 0.0
        self._draw_seconds = self._gather_seconds = 0.0

    def note(self, indices: NDArray[np.int64], draw: float, gather: float) -> None:
        """Takes a draw: what came out, and the seconds of finding and of gathering it."""
        self._draws += 1
        self._unique_last = len(np.unique(indices)) / len(indices)
        self._unique_sum += self._unique_last
        self._draw_seconds += draw
        self._gather_seconds += gather

    def take(self) -> Figures:
        """Seconds since the last call, shares of the whole run; nothing before the first draw."""
        if not self._draws:
            return {}
        draw, gather = self._draw_seconds, self._gather_seconds
        self._draw_seconds = self._gather_seconds = 0.0
        return {
            "replay/unique_ratio_last": self._unique_last,
            "replay/unique_ratio_mean": self._unique_sum / self._draws,
            "replay/sample_seconds": draw + gather,
            "replay/draw_seconds": draw,
            "replay/gather_seconds": gather,
        }

    def state_dict(self) -> dict[str, Any]:
        """The shares of the whole run."""
        return {"draws": self._draws, "last": self._unique_last, "sum": self._unique_sum}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Takes what `state_dict` gave."""
        self._draws, self._unique_last = state["draws"], state["last"]
        self._unique_sum = state["sum"]


def describe_priorities(weights: NDArray[np.float64]) -> Figures:
    """The spread of priorities as they are drawn by."""
    if not len(weights):
        return {}
    p50, p90, p99 = np.percentile(weights, (50, 90, 99))
    return {
        "replay/priority_mean": float(weights.mean()),
        "replay/priority_p50": float(p50),
        "replay/priority_p90": float(p90),
        "replay/priority_p99": float(p99),
    }
