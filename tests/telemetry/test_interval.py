import json

import pytest

from warpzone.errors import MetricError
from warpzone.telemetry.interval import MetricInterval
from warpzone.telemetry.metrics import METRICS


def filled() -> MetricInterval:
    interval = MetricInterval()
    first = {"loss/value": 1.0, "reward/sum": 2.0, "learn/ent_coef": 0.1}
    interval.add(first | {"speed/steps_per_second": 100.0}, steps=100, seconds=1.0)
    second = {"loss/value": 4.0, "reward/sum": 3.0, "learn/ent_coef": 0.2, "replay/fill": 0.5}
    interval.add(second | {"speed/steps_per_second": 50.0}, steps=200, seconds=4.0)
    return interval


def test_values_are_combined_as_the_list_of_metrics_says() -> None:
    row = filled().take()
    assert row["loss/value"] == pytest.approx(3.0)  # by steps
    assert row["speed/steps_per_second"] == pytest.approx(300 / 5)  # by time
    assert row["reward/sum"] == 5.0
    assert row["learn/ent_coef"] == 0.2
    assert row["replay/fill"] == 0.5


def test_a_metric_of_some_updates_is_the_mean_over_those() -> None:
    interval = MetricInterval()
    interval.add({}, steps=100, seconds=1.0)
    interval.add({"loss/imitation_policy": 6.0}, steps=100, seconds=1.0)
    assert interval.take() == {"loss/imitation_policy": 6.0}


def test_taking_the_row_starts_the_next_interval() -> None:
    interval = filled()
    assert interval.updates == 2
    interval.take()
    assert interval.updates == 0
    assert interval.take() == {}


def test_an_interval_continues_from_a_saved_state() -> None:
    resumed = MetricInterval()
    resumed.load_state_dict(json.loads(json.dumps(filled().state_dict())))
    assert resumed.updates == 2
    assert resumed.take() == filled().take()


def test_an_unknown_metric_is_rejected() -> None:
    with pytest.raises(MetricError, match="'loss/polcy' is not a metric"):
        MetricInterval().add({"loss/polcy": 1.0}, steps=1, seconds=1.0)


def test_what_the_help_calls_a_count_is_not_averaged() -> None:
    for metric in METRICS.values():
        if metric.whole or "since the start of the run" in metric.help:
            assert metric.reduction == "latest", metric.name
        if metric.help.endswith("since the previous row, over all envs."):
            assert metric.reduction == "sum", metric.name
