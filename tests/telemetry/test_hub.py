import math
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from test_metrics import episode

from warpzone.errors import MetricError
from warpzone.telemetry.episodes import EPISODE_FIELDS
from warpzone.telemetry.hub import Telemetry
from warpzone.telemetry.jsonl import JsonlSink
from warpzone.telemetry.parquet import ParquetSnapshot
from warpzone.telemetry.reading import read_lines


class ListSink:
    def __init__(self) -> None:
        self.rows: list[dict[str, object]] = []
        self.closed = False

    def write(self, row: Mapping[str, object]) -> None:
        self.rows.append(dict(row))

    def close(self) -> None:
        self.closed = True


class StuckSink(ListSink):
    """Hangs until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def write(self, row: Mapping[str, object]) -> None:
        self.go.wait(30)
        super().write(row)


class FailingSink(ListSink):
    def write(self, row: Mapping[str, object]) -> None:
        raise RuntimeError("no network")


def test_rows_and_episodes_reach_their_sinks_in_order() -> None:
    rows, episodes = ListSink(), ListSink()
    with Telemetry([rows], [episodes]) as telemetry:
        for n in range(100):
            telemetry.write({"run/steps": n})
        telemetry.episode(episode(), session=2, update=7)
    assert [row["run/steps"] for row in rows.rows] == list(range(100))
    (line,) = episodes.rows
    assert list(line) == list(EPISODE_FIELDS)
    assert (line["session"], line["update"]) == (2, 7)
    assert rows.closed
    assert episodes.closed


def test_an_invalid_row_raises_in_the_caller() -> None:
    with Telemetry([ListSink()]) as telemetry, pytest.raises(MetricError):
        telemetry.write({"nonsense/name": 1})


def test_values_that_are_not_finite_are_counted_in_the_row() -> None:
    sink = ListSink()
    with Telemetry([sink], [ListSink()]) as telemetry:
        telemetry.episode(episode(reward=math.nan), session=1, update=1)
        telemetry.write({"loss/policy": math.nan})
    assert sink.rows[0]["loss/policy"] is None
    assert sink.rows[0]["telemetry/not_finite"] == 2


def test_a_stuck_sink_blocks_neither_the_loop_nor_the_others() -> None:
    stuck, free = StuckSink(), ListSink()
    telemetry = Telemetry([stuck, free], capacity=10)
    began = time.monotonic()
    for n in range(100):
        telemetry.write({"run/steps": n})
        time.sleep(0.0005)  # lets the other sink keep up
    assert time.monotonic() - began < 2.0
    assert telemetry.dropped >= 89
    telemetry.write({"run/steps": 100})
    assert free.rows  # continues while the other hangs
    stuck.go.set()
    assert telemetry.flush()
    telemetry.write({"run/steps": 101})
    assert telemetry.close()
    assert free.rows[-1]["telemetry/dropped"] == telemetry.dropped
    # On a busy machine, the other sink may lose rows too.
    assert len(stuck.rows) + len(free.rows) + telemetry.dropped == 2 * 102


def test_overflow_is_warned_about_once(caplog: pytest.LogCaptureFixture) -> None:
    stuck = StuckSink()
    telemetry = Telemetry([stuck], capacity=2)
    for n in range(20):
        telemetry.write({"run/steps": n})
    assert caplog.text.count("too slow") == 1
    stuck.go.set()
    assert telemetry.close()


def test_close_has_a_time_limit(caplog: pytest.LogCaptureFixture) -> None:
    stuck = StuckSink()
    telemetry = Telemetry([stuck])
    telemetry.write({"run/steps": 1})
    began = time.monotonic()
    assert not telemetry.close(timeout=0.2)
    assert time.monotonic() - began < 1.0
    assert "did not finish in time" in caplog.text
    stuck.go.set()


def test_a_failing_sink_is_warned_about_once_and_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    failing, good = FailingSink(), ListSink()
    with Telemetry([failing, good]) as telemetry:
        for n in range(5):
            telemetry.write({"run/steps": n})
    assert telemetry.dropped == 5
    assert len(good.rows) == 5
    assert caplog.text.count("could not write a row: no network") == 1


def test_the_last_snapshot_has_the_last_row(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    snapshot = ParquetSnapshot(path, tmp_path / "metrics.parquet")
    with Telemetry([JsonlSink(path), snapshot]) as telemetry:
        for n in range(500):
            telemetry.write({"run/steps": n, "run/session": 1})
    assert len(list(read_lines(path))) == 500
    assert pq.read_table(tmp_path / "metrics.parquet").num_rows == 500


def test_writing_a_row_costs_the_loop_little(tmp_path: Path) -> None:
    with Telemetry([JsonlSink(tmp_path / "metrics.jsonl")]) as telemetry:
        row = {"run/steps": 1} | {f"end/{name}_count": 1 for name in ("clear", "pit", "enemy")}
        began = time.perf_counter()
        for _ in range(1000):
            telemetry.write(row)
        assert time.perf_counter() - began < 1.0  # 1 ms each, far above what it takes
