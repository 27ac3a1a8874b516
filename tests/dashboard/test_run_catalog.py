"""The list of runs and its routes."""

import json
import shutil
from pathlib import Path

import pytest
from dashboard_support import make_client, metric_row, write_run

from warpzone.dashboard.run_catalog import RunCatalog
from warpzone.errors import RunError


def test_runs_are_listed_with_state_rate_and_group(tmp_path: Path) -> None:
    rows = [metric_row(step, rollout__clear_rate=step / 100) for step in (10, 20, 30)]
    write_run(tmp_path, "campaign/one", rows)
    write_run(tmp_path, "two", phase="crashed")
    answer = make_client(tmp_path).get("/api/runs").json()
    one, two = sorted(answer["runs"], key=lambda run: run["id"])
    assert (one["id"], one["group"], one["name"]) == ("campaign/one", "campaign", "one")
    assert (one["state"], one["clear_rate"], one["level"]) == ("finished", 0.3, "1-1")
    assert one["sparkline"] == [0.1, 0.2, 0.3]
    assert (two["id"], two["group"], two["state"]) == ("two", "", "crashed")


def test_a_run_changes_in_the_list_as_it_trains(tmp_path: Path) -> None:
    run = write_run(tmp_path, rows=[metric_row(10, rollout__clear_rate=0.1)])
    catalog = RunCatalog(tmp_path)
    assert catalog.rows()[0][0]["clear_rate"] == 0.1
    with (run / "metrics.jsonl").open("a") as file:
        file.write(json.dumps(metric_row(20, rollout__clear_rate=0.9)) + "\n")
    assert catalog.rows()[0][0]["clear_rate"] == 0.9


def test_a_run_without_its_trainer_is_crashed_although_no_file_changed(tmp_path: Path) -> None:
    run = write_run(tmp_path, phase="update")
    catalog = RunCatalog(tmp_path)
    assert catalog.row(run.name)["state"] == "running"
    beat = json.loads((run / "heartbeat.jsonl").read_text())
    (run / "heartbeat.jsonl").write_text(json.dumps(beat | {"start_ticks": 1}) + "\n")
    assert catalog.row(run.name)["state"] == "crashed"


def test_time_left_follows_from_speed_and_steps(tmp_path: Path) -> None:
    rows = [metric_row(400_000, speed__steps_per_second=1000.0)]
    run = write_run(tmp_path, rows=rows, phase="update")
    beat = json.loads((run / "heartbeat.jsonl").read_text()) | {"steps": 400_000}
    (run / "heartbeat.jsonl").write_text(json.dumps(beat) + "\n")
    assert RunCatalog(tmp_path).row(run.name)["seconds_left"] == pytest.approx(600.0)


def test_a_deleted_run_is_named_and_the_list_continues(tmp_path: Path) -> None:
    run = write_run(tmp_path, "gone")
    write_run(tmp_path, "here")
    client = make_client(tmp_path)
    client.get("/api/runs")
    shutil.rmtree(run)
    answer = client.get("/api/run", params={"run": "gone"})
    assert (answer.status_code, answer.json()) == (404, {"error": "run 'gone' was deleted"})
    assert [row["id"] for row in client.get("/api/runs").json()["runs"]] == ["here"]


def test_the_folder_may_itself_be_a_run(tmp_path: Path) -> None:
    run = write_run(tmp_path, "alone")
    assert RunCatalog(run).row("alone")["state"] == "finished"
    with pytest.raises(RunError, match="'other' is not a run"):
        RunCatalog(run).find("other")


def test_a_folder_that_does_not_exist_has_no_runs(tmp_path: Path) -> None:
    assert RunCatalog(tmp_path / "nowhere").rows() == ([], 0)


def test_damaged_files_are_named(tmp_path: Path) -> None:
    run = write_run(tmp_path, rows=[metric_row(1)])
    with (run / "metrics.jsonl").open("a") as file:
        file.write("garbage\n" + json.dumps(metric_row(2)) + "\n")
    row = RunCatalog(tmp_path).row(run.name)
    assert row["damages"] == ["metrics.jsonl is damaged: 1 line is not a JSON object"]


def test_a_call_without_time_leaves_summaries_to_later_calls(tmp_path: Path) -> None:
    for number in range(5):
        write_run(tmp_path, f"run-{number}")
    catalog = RunCatalog(tmp_path)
    rows, missing = catalog.rows(seconds=0.0)
    assert len(rows) + missing == 5
    assert missing > 0
    rows, missing = catalog.rows(seconds=60.0)
    assert (len(rows), missing) == (5, 0)
