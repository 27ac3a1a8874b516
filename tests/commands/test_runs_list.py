"""`warpzone runs list`: whole names at any width, and one form for scripts."""

import json
import time
from pathlib import Path

import pytest

from warpzone import cli

LONG_NAME = "mario-1-1-with-a-name-that-is-longer-than-a-narrow-terminal-is-wide"
KEYS = [
    *("name", "path", "level", "state", "started", "changed", "duration_seconds", "steps"),
    *("updates", "clear_rate", "steps_per_second", "damages"),
]


def make_run(folder: Path, name: str) -> Path:
    run = folder / name
    run.mkdir(parents=True)
    (run / "config.toml").write_text('[env]\nlevel = "1-1"\n')
    row = {"run/steps": 4321, "run/updates": 2, "run/time": 1.7e9 + 600, "run/elapsed": 542.5}
    row |= {"rollout/clear_rate": 0.97, "speed/steps_per_second": 8.0}
    (run / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    beats = [
        {"time": 1.7e9, "steps": 0, "update": 0, "phase": "start"},
        {"time": 1.7e9 + 600, "steps": 4321, "update": 2, "phase": "finished"},
    ]
    (run / "heartbeat.jsonl").write_text("".join(json.dumps(beat) + "\n" for beat in beats))
    return run


def use_terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """Makes rich believe in a terminal of that many columns."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.mark.parametrize("width", [20, 60, 80, 200])
def test_nothing_is_cut_at_any_width(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    width: int,
) -> None:
    use_terminal(monkeypatch, width)
    make_run(tmp_path / "runs", LONG_NAME)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["runs", "list"]) == 0
    out = capsys.readouterr().out
    started = time.strftime("%Y-%m-%d %H:%M", time.localtime(1.7e9))
    for fact in (f"runs/{LONG_NAME}", "1-1", "finished", started, "9:02", "4,321", "97%"):
        assert fact in out
    assert "…" not in out
    assert ("┃" in out) == (width == 200), "a table only where it fits"


def test_a_table_that_fits_stays_a_table(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    use_terminal(monkeypatch, 100)
    monkeypatch.chdir(tmp_path)
    make_run(tmp_path / "runs", "mario-1-1")
    assert cli.main(["runs", "list"]) == 0
    assert "┃" in capsys.readouterr().out


def test_the_form_for_scripts_has_the_documented_keys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(tmp_path, "mario-1-1")
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "config.toml").write_text("")
    assert cli.main(["runs", "list", str(tmp_path), "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["runs"]
    assert list(first) == list(second) == KEYS
    assert first == {
        "name": "mario-1-1",
        "path": run.as_posix(),
        "level": "1-1",
        "state": "finished",
        "started": "2023-11-14T22:13:20+00:00",
        "changed": "2023-11-14T22:23:20+00:00",
        "duration_seconds": 542.5,
        "steps": 4321,
        "updates": 2,
        "clear_rate": 0.97,
        "steps_per_second": 8.0,
        "damages": [],
    }
    assert second["state"] == "new"
    assert second["started"] is second["duration_seconds"] is second["clear_rate"] is None
    page = (Path(__file__).parents[2] / "docs" / "training.md").read_text()
    assert [key for key in KEYS if f"`{key}`" not in page] == []


def test_scripts_get_a_list_where_there_are_no_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["runs", "list", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"runs": []}


@pytest.mark.parametrize("moment", ["1e300", "-1e300", '"now"', "null", "[]", "1e12"])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_moment_that_no_calendar_has_is_unknown(
    tmp_path: Path, moment: str, form: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(tmp_path, "mario-1-1")
    (run / "heartbeat.jsonl").write_text(f'{{"time": {moment}, "phase": "finished"}}\n')
    assert cli.main(["runs", "list", str(tmp_path), *form]) == 0
    assert "4,321" in capsys.readouterr().out.replace("4321", "4,321")


def test_the_start_is_found_in_rotated_heartbeats(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(tmp_path, "mario-1-1")
    (run / "heartbeat-0001.jsonl").write_text('{"time": 1600000000, "phase": "start"}\n')
    assert cli.main(["runs", "list", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["runs"][0]
    assert found["started"] == "2020-09-13T12:26:40+00:00"
