"""Combines the metrics of several updates into one row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warpzone.errors import MetricError
from warpzone.telemetry.metrics import MetricRow, Reduction, find_metric


class MetricInterval:
    """Collects the metrics of updates until a row is due.

    A metric that only some of the updates report is combined over those updates.

    Attributes:
        updates: Number of updates collected so far.
    """

    def __init__(self) -> None:
        """Starts empty."""
        self._clear()

    def _clear(self) -> None:
        self.updates = 0
        self._sums: dict[str, float] = {}
        self._weights: dict[str, float] = {}
        self._latest: MetricRow = {}

    def add(self, row: MetricRow, steps: int, seconds: float) -> None:
        """Adds the metrics of an update.

        Args:
            row: Metrics of the update.
            steps: Environment steps of the update.
            seconds: Wall time of the update.

        Raises:
            MetricError: A name is not listed.
        """
        self.updates += 1
        for name, value in row.items():
            reduction = _reduction(name)
            if reduction == "latest":
                self._latest[name] = value
                continue
            weight = {"mean": float(steps), "time_mean": seconds, "sum": 1.0}[reduction]
            self._sums[name] = self._sums.get(name, 0.0) + weight * float(value)
            self._weights[name] = self._weights.get(name, 0.0) + weight

    def take(self) -> MetricRow:
        """Returns the combined row and starts the next interval."""
        row = dict(self._latest)
        for name, total in self._sums.items():
            divisor = 1.0 if _reduction(name) == "sum" else self._weights[name]
            row[name] = total / divisor
        self._clear()
        return row

    def state_dict(self) -> dict[str, Any]:
        """Returns the state that a resumed run needs, as plain data."""
        return {
            "updates": self.updates,
            "sums": dict(self._sums),
            "weights": dict(self._weights),
            "latest": dict(self._latest),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self.updates = state["updates"]
        self._sums = dict(state["sums"])
        self._weights = dict(state["weights"])
        self._latest = dict(state["latest"])


def _reduction(name: str) -> Reduction:
    metric = find_metric(name)
    if metric is None:
        raise MetricError(f"'{name}' is not a metric; add it to telemetry/metrics.py")
    return metric.reduction
