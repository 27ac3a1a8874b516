"""Metrics as columns: tolerant, without what a resumed run repeats, downsampled."""

import math

import numpy as np
from dashboard_support import metric_row

from warpzone.telemetry.downsample import downsample
from warpzone.telemetry.metric_table import MetricTable
from warpzone.telemetry.series import curves


def test_values_that_are_not_finite_are_gaps() -> None:
    table = MetricTable()
    for value in (1.0, None, math.nan, math.inf, "text", True, 10**400, 2):
        table.append({"a": value})
    assert [x for x in table.column("a") if not math.isnan(x)] == [1.0, 2.0]
    assert len(table) == 8


def test_a_metric_that_appears_late_begins_with_gaps() -> None:
    table = MetricTable()
    for row in ({"a": 1.0}, {"a": 2.0, "b": 5.0}, {"a": 3.0}):
        table.append(row)
    assert np.isnan(table.column("b")).tolist() == [True, False, True]
    assert np.isnan(table.column("nothing")).all()


def test_rows_that_a_resumed_run_repeats_replace_the_earlier_ones() -> None:
    table = MetricTable()
    for steps, session in ((1, 1), (2, 1), (3, 1), (2, 2), (3, 2)):
        table.append(metric_row(steps, session))
    assert table.column("run/steps").tolist() == [1, 2, 3]
    assert table.column("run/session").tolist() == [1, 2, 2]


def test_downsampling_keeps_extremes_ends_and_order() -> None:
    x = np.arange(100_000, dtype=np.float64)
    y = np.sin(x / 1000)
    y[54_321], y[12_345] = 50.0, -50.0
    chosen = downsample(x, y, 500)
    assert len(chosen) <= 500
    assert {0, 12_345, 54_321, 99_999} <= set(chosen.tolist())
    assert (np.diff(chosen) > 0).all()


def test_few_points_are_all_kept_and_gaps_are_not() -> None:
    x, y = np.arange(5.0), np.array([1.0, math.nan, 3.0, math.inf, 5.0])
    assert downsample(x, y, 100).tolist() == [0, 2, 4]
    assert downsample(np.zeros(50), np.arange(50.0), 10).size <= 10
    assert downsample(np.array([]), np.array([]), 10).size == 0


def test_a_zoomed_range_has_more_detail() -> None:
    table = MetricTable()
    for step in range(5000):
        table.append(metric_row(step, a=float(step % 7)))
    whole = curves(table, ["a"], axis="steps", points=100)["a"]["x"]
    part = curves(table, ["a"], axis="steps", points=100, low=1000, high=1040)["a"]["x"]
    assert sum(1000 <= x <= 1040 for x in whole) < 41
    assert part == list(range(1000, 1041))
