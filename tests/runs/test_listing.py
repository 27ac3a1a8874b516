"""The list of runs: what each has achieved, and nothing that breaks it."""

import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from warpzone import cli
from warpzone.runs.listing import list_runs, summarize_run
from warpzone.system.processes import ProcessId


def make_run(folder: Path, name: str, metrics: str = "", heartbeat: str = "") -> Path:
    run = folder / name
    run.mkdir(parents=True)
    (run / "config.toml").write_text('[env]\nlevel = "1-1"\n')
    (run / "metrics.jsonl").write_text(metrics)
    (run / "heartbeat.jsonl").write_text(heartbeat)
    return run


def line(**values: object) -> str:
    return json.dumps(values) + "\n"


def row(steps: object, moment: float = 1.0) -> str:
    return json.dumps({"run/steps": steps, "run/updates": 2, "run/time": moment}) + "\n"


def beat(steps: object, moment: float, phase: str = "finished") -> str:
    return line(time=moment, steps=steps, update=4, phase=phase, **ProcessId.own().as_row())


def test_the_newer_of_metrics_and_heartbeat_counts(tmp_path: Path) -> None:
    ahead = make_run(tmp_path, "ahead", row(100, 5.0), beat(200, 9.0))
    behind = make_run(tmp_path, "behind", row(100, 5.0), beat(50, 3.0))
    resumed = make_run(tmp_path, "resumed", row(900, 5.0), beat(300, 9.0))
    assert [summarize_run(run).steps for run in (ahead, behind, resumed)] == [200, 100, 300]
    assert [summarize_run(run).updates for run in (ahead, behind, resumed)] == [4, 2, 4]


def test_a_frozen_run_is_stalled_and_not_crashed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        own = ProcessId.own().as_row() | {"pid": process.pid}
        own |= process_start(process.pid)
        run = make_run(tmp_path, "frozen", "", line(time=time.time() - 300, phase="update", **own))
        assert summarize_run(run).state == "stalled"
        process.kill()
        process.wait()
        assert summarize_run(run).state == "crashed"


def process_start(pid: int) -> dict[str, object]:
    """When a process started, as it would write it about itself."""
    code = (
        "import os, sys, json, warpzone.system.processes as p; os.getpid = lambda: int(sys.argv[1])"
        "; print(json.dumps(p.ProcessId.own().as_row()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(pid)], capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout))


BAD_METRICS = [
    "garbage\n",
    "[]\n",
    row("many"),
    row(None),
    '{"run/steps": NaN, "run/updates": Infinity}\n',
    '{"run/steps": ' + "9" * 400 + "}\n",
    '{"run/steps": 64, "rollout/clear_rate": "high", "run/elapsed": []}\n',
]
BAD_HEARTBEATS = [
    "garbage\n",
    '{"time": "now", "steps": {}, "phase": 7}\n',
    '{"time": null, "pid": "x", "host": 3}\n',
]


@pytest.mark.parametrize("metrics", BAD_METRICS)
@pytest.mark.parametrize("heartbeat", BAD_HEARTBEATS)
def test_one_bad_line_in_one_run_spoils_nothing(
    tmp_path: Path, metrics: str, heartbeat: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(tmp_path, "good", row(4321, 5.0), beat(4321, 9.0))
    make_run(tmp_path, "bad", metrics, heartbeat)
    assert [run.path.name for run in list_runs(tmp_path)] == ["bad", "good"]
    assert cli.main(["runs", "list", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "4,321" in out
    if "garbage" in metrics:
        assert "metrics.jsonl is damaged: 1 line is not a JSON object" in out


def test_a_damaged_archive_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_run(tmp_path, "run")
    (run / "metrics.jsonl").unlink()
    archive = run / "metrics-0001.jsonl.gz"
    archive.write_bytes(gzip.compress(row(77).encode())[:-9])
    assert cli.main(["runs", "list", str(tmp_path)]) == 0
    assert f"{archive} is damaged" in capsys.readouterr().out


def test_the_list_works_on_a_terminal_that_knows_only_ascii(tmp_path: Path) -> None:
    make_run(tmp_path, "läufe-…", row(4321, 5.0))
    done = subprocess.run(
        [sys.executable, "-m", "warpzone", "runs", "list", str(tmp_path)],
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"4,321" in done.stdout
    assert rb"l\xe4ufe-\u2026" in done.stdout
