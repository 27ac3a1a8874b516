import ast
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from warpzone import _native
from warpzone.errors import MetricError
from warpzone.telemetry import metrics_page
from warpzone.telemetry.episodes import EPISODE_FIELDS, Episode, EpisodeStatistics
from warpzone.telemetry.metrics import GROUPS, METRICS, REWARD_TERMS, clean_row, find_metric
from warpzone.telemetry.summary import summarize

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
SOURCE = Path(__file__).parents[2] / "src" / "warpzone" / "telemetry"


def episode(**changes: object) -> Episode:
    values: dict[str, object] = {
        "time": 1.0,
        "steps": 10,
        "env": 0,
        "level": "1-1",
        "reward": 2.5,
        "length": 40,
        "frames": 160,
        "progress": 300,
        "end": "enemy",
        "score": 100,
        "coins": 1,
        "clock": 380,
        "terms": {"distance": 3.0, "death": -0.5},
    }
    return Episode(**(values | changes))  # type: ignore[arg-type]


def test_names_are_listed_once_and_have_group_unit_and_help() -> None:
    assert len(METRICS) == sum(len(metrics) for metrics in GROUPS.values())
    for metric in METRICS.values():
        assert re.fullmatch(r"[a-z]+/[a-z0-9_]+|custom", metric.name)
        assert metric.help.endswith(".")


def test_reward_terms_are_those_of_the_environment() -> None:
    assert REWARD_TERMS == _native.REWARD_TERMS


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == metrics_page.render(), (
        "run: python -m warpzone.telemetry.metrics_page docs/metrics.md"
    )


def test_an_unknown_name_is_rejected() -> None:
    with pytest.raises(MetricError, match="'loss/polcy' is not a metric"):
        clean_row({"loss/polcy": 1.0})


@pytest.mark.parametrize("value", ["1", None, True, [1.0]])
def test_a_value_that_is_not_a_number_is_rejected(value: object) -> None:
    with pytest.raises(MetricError, match="must be a number"):
        clean_row({"loss/policy": value})


def test_a_fractional_count_is_rejected() -> None:
    with pytest.raises(MetricError, match="whole"):
        clean_row({"run/steps": 1.5})


def test_numpy_numbers_become_plain_ones() -> None:
    row, _ = clean_row({"loss/policy": np.float32(0.5), "run/steps": np.int64(7)})
    assert json.loads(json.dumps(row)) == {"loss/policy": 0.5, "run/steps": 7}


def test_nan_and_infinity_become_null_and_are_counted() -> None:
    row, count = clean_row({"loss/policy": math.nan, "loss/value": math.inf, "loss/total": 1.0})
    assert row == {"loss/policy": None, "loss/value": None, "loss/total": 1.0}
    assert count == 2


def test_labelled_names_need_a_label_and_others_take_none() -> None:
    assert find_metric("level/clear_rate/1-1") is METRICS["level/clear_rate"]
    assert find_metric("level/clear_rate") is None
    assert find_metric("level/clear_rate/") is None
    assert find_metric("loss/policy/1-1") is None


def test_an_empty_summary_has_no_entries() -> None:
    assert summarize("episode/return", []) == {}


def test_a_summary_has_the_listed_statistics() -> None:
    row = summarize("episode/return", list(range(101)))
    assert row["episode/return_p50"] == 50
    assert row["episode/return_p99"] == 99
    assert "episode/return_p10" not in row  # listed for lengths only
    clean_row(row)


def test_statistics_of_episodes_fit_the_list() -> None:
    statistics = EpisodeStatistics()
    statistics.add(episode(end="clear", progress=3161))
    statistics.add(episode())
    statistics.add(episode(end="pit", level="1-2"))
    row = statistics.take_metrics()
    clean_row(row)
    assert row["episode/count"] == 3
    assert row["end/pit_count"] == 1
    assert row["end/clear_share"] == pytest.approx(1 / 3)
    assert row["rollout/clear_rate"] == pytest.approx(1 / 3)
    assert row["level/clear_rate/1-1"] == 0.5
    assert row["reward/distance_sum"] == 9.0
    assert row["episode/progress_best"] == 3161
    again = statistics.take_metrics()
    assert again["episode/count"] == 0
    assert "episode/return_mean" not in again
    assert again["rollout/clear_rate"] == pytest.approx(1 / 3)


def test_statistics_continue_from_a_saved_state() -> None:
    first, second = EpisodeStatistics(), EpisodeStatistics()
    first.add(episode(end="clear"))
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    assert second.take_metrics() == first.take_metrics()


def test_episodes_with_unknown_reasons_or_terms_are_rejected() -> None:
    with pytest.raises(MetricError, match="'bored' is not a reason"):
        episode(end="bored")
    with pytest.raises(MetricError, match="unknown reward terms: luck"):
        episode(terms={"luck": 1.0})


def test_an_episode_is_a_line_of_plain_numbers() -> None:
    row = episode(reward=np.float32(math.nan), progress=np.int32(5)).as_row()
    assert set(EPISODE_FIELDS) - set(row) == {"session", "update"}
    assert json.loads(json.dumps(row, allow_nan=False))["reward"] is None


def test_telemetry_imports_no_torch_and_no_producer() -> None:
    allowed = (
        "warpzone.telemetry",
        "warpzone.errors",
        "warpzone.system",
        "warpzone.envs.endings",
    )
    for path in SOURCE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            for name in names:
                assert name.split(".")[0] not in ("torch", "tensorboardX")
                assert not name.startswith("warpzone") or name.startswith(allowed)
