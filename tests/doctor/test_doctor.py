"""`warpzone doctor` reports problems, and `doctor env` counts successful starts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from warpzone import cli
from warpzone.doctor import checks, env_trials
from warpzone.doctor.summary import quantile, summary
from warpzone.doctor.trial import TrialOptions


def run(*arguments: str) -> int:
    return cli.main(["doctor", *arguments])


def test_machine_is_described_without_problems(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checks, "benchmark", lambda seconds: checks.Finding("benchmark", "fast"))
    assert run() == 0
    output = capsys.readouterr().out
    for name in ("python", "numpy", "processor", "features", "gpu", "rom smb", "runs folder"):
        assert f" {name} " in output
    assert "!" not in [line[:1] for line in output.splitlines()]
    assert list(tmp_path.iterdir()) == []


def test_missing_rom_is_a_problem_with_advice(
    data_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run() == 1
    output = capsys.readouterr().out
    assert "! rom smb" in output
    assert "warpzone rom install" in output
    assert "benchmark" not in output
    assert not data_folder.exists()


def test_folder_that_is_not_writable_is_a_problem(tmp_path: Path) -> None:
    read_only = Path("/proc/1")  # Not writable even for root.
    finding = checks._writable("runs folder", read_only / "runs")
    assert finding.level == "problem"
    assert "choose another folder" in finding.advice
    assert checks._writable("runs folder", tmp_path / "a" / "b").level == "ok"


def test_benchmark_reports_agent_steps_per_second() -> None:
    assert "agent steps/s" in checks.benchmark(0.05).value


def test_trials_are_appended_and_summarized(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "new" / "trials.jsonl"
    arguments = ["env", "--num-envs", "2", "-o", str(file)]
    assert run(*arguments, "--mode", "native", "--trials", "2") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 of 2"
    assert run(*arguments, "--mode", "async", "--trials", "1") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 of 1"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(row["mode"], row["trial"], row["ok"]) for row in rows] == [
        ("native", 1, True),
        ("native", 2, True),
        ("async", 1, True),
    ]
    assert all(set(row["seconds"]) == {"import", "build", "reset", "close"} for row in rows)
    assert list(file.parent.iterdir()) == [file]  # Successful starts leave no diagnostics.
    assert run("env", "--summary", "-o", str(file)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "native, native, 2 envs: 2 of 2 succeeded"
    assert "async, native, 2 envs: 1 of 1 succeeded" in lines
    assert lines[-1] == "3 of 3"


def test_failed_trial_is_counted_and_keeps_its_diagnostics(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "trials.jsonl"
    arguments = ["--mode", "async", "--num-envs", "2", "--trials", "1", "--level", "9-9"]
    assert run("env", *arguments, "-o", str(file)) == 1
    output = capsys.readouterr().out
    assert output.splitlines()[-1] == "0 of 1"
    row = json.loads(file.read_text())
    assert "9-9" in row["error"]
    assert Path(row["diagnostics"], "errors.txt").exists()


def test_a_hanging_trial_is_killed_with_all_its_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(env_trials, "_GRACE_SECONDS", 0.5)
    script = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', "
    script += "'import time; time.sleep(3600)']); time.sleep(3600)"
    real = subprocess.Popen
    groups = []

    def hanging(command: list[str], **options: Any) -> Any:
        process = real([sys.executable, "-c", script], **options)
        groups.append(process.pid)
        return process

    monkeypatch.setattr(env_trials.subprocess, "Popen", hanging)
    row = env_trials.run_trial(TrialOptions(timeout=0.5), tmp_path / "trial")
    assert not row["ok"]
    assert row["error"] == "stage 'import' took longer than 1 s"
    assert Path(row["diagnostics"]).is_dir()
    while env_trials._group_exists(groups[0]):
        pass  # The test's timeout fails the test if a process survives.


def test_summary_counts_successes_and_lists_quantiles() -> None:
    rows = [
        {
            **{"mode": "async", "backend": "nes-py", "num_envs": 8, "trial": n, "ok": n != 3},
            **{"seconds": {"build": float(n), "reset": 0.1, "close": 0.1}, "total": n + 1.0},
            **{"error": "worker 2 died" if n == 3 else None, "diagnostics": "folder"},
        }
        for n in range(1, 11)
    ]
    lines = summary(rows)
    assert lines[0] == "async, nes-py, 8 envs: 9 of 10 succeeded"
    assert "p50    6.00 s  p90   10.00 s  max   10.00 s" in lines[1]
    assert any("trial 3: worker 2 died" in line for line in lines)
    assert lines[-1] == "9 of 10"


def test_quantiles_are_observed_values() -> None:
    values = [float(value) for value in range(1, 101)]
    assert [quantile(values, q) for q in (0.5, 0.9, 1.0)] == [50.0, 90.0, 100.0]
    assert quantile([7.0], 0.5) == 7.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--trials", "0"], "--trials is 0"),
        (["--num-envs", "0"], "--num-envs is 0"),
        (["--mode", "native", "--backend", "nes-py"], "give --vector async"),
        (["--mode", "async", "--timeout", "0"], "it must be above 0"),
        (["--summary", "-o", "missing.jsonl"], "missing.jsonl cannot be read"),
    ],
)
def test_invalid_options_give_a_one_line_error(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("env", *arguments) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_file_without_trials_is_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "other.jsonl"
    file.write_text('{"a": 1}\n')
    assert run("env", "--summary", "-o", str(file)) == 2
    assert "does not contain trials" in capsys.readouterr().err
