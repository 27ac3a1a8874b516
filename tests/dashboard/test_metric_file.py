"""Files of metrics: read incrementally and tolerantly; and the route of curves."""

import gzip
import json
from pathlib import Path

import pytest
from dashboard_support import make_client, metric_row, write_run

from warpzone.dashboard import metric_file
from warpzone.dashboard.metric_file import MetricFile, MetricFiles
from warpzone.telemetry.metric_table import MetricTable


def append(path: Path, *rows: object) -> None:
    with path.open("a") as file:
        file.writelines(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows)


def whole(file: MetricFile) -> MetricTable:
    """The table once all rows are read."""
    file.refresh()
    file.wait()
    return file.refresh()


def test_only_what_was_added_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    append(path, metric_row(1, a=1.0), metric_row(2, a=2.0))
    file = MetricFile(path)
    assert len(file.refresh()) == 2
    # Overwritten in place: what was read stays, so the second call did not read it again.
    path.write_bytes(b"x" * path.stat().st_size)
    append(path, metric_row(3, a=3.0))
    assert file.refresh().column("a").tolist() == [1.0, 2.0, 3.0]


def test_half_a_line_is_read_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    line = json.dumps(metric_row(1, a=1.0)) + "\n"
    append(path, line[:20])
    file = MetricFile(path)
    assert len(file.refresh()) == 0
    append(path, line[20:])
    assert file.refresh().column("a").tolist() == [1.0]
    assert file.damages == []


def test_garbage_between_rows_is_counted_and_left_out(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    append(path, metric_row(1, a=1.0), "garbage\n", "[1]\n", "NaN\n", metric_row(2, a=2.0))
    file = MetricFile(path)
    assert file.refresh().column("a").tolist() == [1.0, 2.0]
    assert file.damages == ["metrics.jsonl: 3 lines are damaged"]


def test_rotated_files_come_first_and_a_replaced_file_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    append(path, metric_row(2, a=2.0))
    file = MetricFile(path)
    assert len(file.refresh()) == 1
    with gzip.open(tmp_path / "metrics-0001.jsonl.gz", "wt") as old:
        old.write(json.dumps(metric_row(1, a=1.0)) + "\n")
    assert whole(file).column("a").tolist() == [1.0, 2.0]
    append(tmp_path / "other", metric_row(2, a=7.0))
    (tmp_path / "other").replace(path)
    assert whole(file).column("a").tolist() == [1.0, 7.0]


def test_a_deleted_file_has_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    append(path, metric_row(1))
    file = MetricFile(path)
    file.refresh()
    path.unlink()
    assert len(file.refresh()) == 0


def test_a_long_file_opens_with_an_excerpt_and_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "metrics.jsonl"
    append(path, *(metric_row(step, a=float(step)) for step in range(1000)))
    monkeypatch.setattr(metric_file, "_QUICK_BYTES", path.stat().st_size // 10)
    file = MetricFile(path)
    excerpt = file.refresh().column("a")
    assert 90 <= len(excerpt) <= 110
    assert excerpt[-1] == 999.0
    file.wait()
    assert len(file.refresh()) == 1000
    assert file.is_complete
    append(path, metric_row(1000, a=1000.0))
    assert len(file.refresh()) == 1001


def test_only_the_last_tables_stay_in_memory(tmp_path: Path) -> None:
    files = MetricFiles(most=2)
    first = files.get(tmp_path / "1")
    files.get(tmp_path / "2")
    assert files.get(tmp_path / "1") is first
    files.get(tmp_path / "3")
    assert files.get(tmp_path / "1") is first
    assert files.get(tmp_path / "2") is not first


def test_curves_are_valid_json_whatever_the_file_holds(tmp_path: Path) -> None:
    run = write_run(tmp_path, rows=[metric_row(1, a=1.0)])
    append(run / "metrics.jsonl", "{broken\n", '{"run/steps": 2, "a": NaN}\n', metric_row(3, a=3.0))
    client = make_client(tmp_path)
    answer = client.get("/api/curves", params={"run": run.name, "names": "a,b", "axis": "steps"})
    assert answer.json()["curves"] == {"a": {"x": [1, 3], "y": [1, 3]}, "b": {"x": [], "y": []}}
    about = client.get("/api/run", params={"run": run.name}).json()
    assert "a" in about["metrics"]
    assert any("damaged" in text for text in about["damages"])


@pytest.mark.parametrize(
    "query", [{"axis": "sideways"}, {"points": "1"}, {"points": "x"}, {"low": "x"}]
)
def test_malformed_questions_get_a_sentence(tmp_path: Path, query: dict[str, str]) -> None:
    run = write_run(tmp_path)
    answer = make_client(tmp_path).get(
        "/api/curves", params={"run": run.name, "names": "a"} | query
    )
    assert answer.status_code in (400, 404)
    assert answer.json()["error"]
