"""Backfill raises step counts that are too low, once, and leaves a trace of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from warpzone import cli
from warpzone.errors import RunError
from warpzone.runs import checkpoint
from warpzone.runs.backfill import backfill

CONFIG = {"env": {"num_envs": 4}, "learn": {"rollout_steps": 8}}


def make(folder: Path, name: str, steps: int, updates: int = 10, config: Any = CONFIG) -> Path:
    meta = checkpoint.CheckpointMeta(steps, updates, config=config)
    path = checkpoint.save(folder / "checkpoints", name, {"weights": torch.zeros(2)}, meta)
    return path.with_suffix(".json")


def read(path: Path) -> dict[str, Any]:
    row = json.loads(path.read_text())
    assert isinstance(row, dict)
    return row


def test_only_lower_counts_are_raised_with_a_backup_and_an_audit(tmp_path: Path) -> None:
    low = make(tmp_path / "run", "low", steps=80)
    right = make(tmp_path / "run", "right", steps=320)
    high = make(tmp_path / "other" / "run", "high", steps=999)
    before = {path: path.read_text() for path in (low, right, high)}
    outcomes = {finding.path: finding.outcome for finding in backfill(tmp_path)}
    assert outcomes == {low: "corrected", right: "correct", high: "higher"}
    row = read(low)
    assert row["steps"] == 320
    assert row["backfill"]["steps_before"] == 80
    assert row["backfill"]["rule"] == "updates x env.num_envs x learn.rollout_steps"
    assert low.with_name("low.json.bak").read_text() == before[low]
    assert {n: v for n, v in row.items() if n not in ("steps", "backfill")} == {
        n: v for n, v in json.loads(before[low]).items() if n != "steps"
    }
    for path in (right, high):
        assert path.read_text() == before[path]
        assert not path.with_name(path.name + ".bak").exists()
    # The checkpoint is as good as before.
    assert checkpoint.load(low.with_suffix(".pt")).meta.steps == 320


def test_doing_it_again_changes_nothing(tmp_path: Path) -> None:
    low = make(tmp_path, "low", steps=80)
    backfill(tmp_path)
    files = {path: path.read_bytes() for path in (tmp_path / "checkpoints").iterdir()}
    assert [finding.outcome for finding in backfill(tmp_path)] == ["correct"]
    assert files == {path: path.read_bytes() for path in (tmp_path / "checkpoints").iterdir()}
    assert low.exists()


def test_a_dry_run_touches_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    low = make(tmp_path, "low", steps=80)
    files = {path: path.read_bytes() for path in (tmp_path / "checkpoints").iterdir()}
    assert cli.main(["tools", "backfill", str(tmp_path), "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert f"{low}: 80 would become 320" in out
    assert "1 to correct, 0 correct" in out
    assert files == {path: path.read_bytes() for path in (tmp_path / "checkpoints").iterdir()}


def test_what_the_side_car_lacks_comes_from_the_checkpoint(tmp_path: Path) -> None:
    low = make(tmp_path, "low", steps=80)
    row = read(low)
    del row["config"], row["updates"], row["steps"]
    low.write_text(json.dumps(row))
    (finding,) = backfill(tmp_path)
    assert (finding.before, finding.after) == (None, 320)
    assert read(low)["steps"] == 320


@pytest.mark.parametrize("content", ["{half", "[1, 2]", '{"steps": 5, "updates": 1}'])
def test_what_cannot_be_known_is_left_alone_and_said(
    tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = make(tmp_path, "odd", steps=80, config={})
    odd.write_text(content)
    assert cli.main(["tools", "backfill", str(tmp_path)]) == 0
    assert odd.read_text() == content
    out = capsys.readouterr().out
    assert f"{odd}: unchanged" in out
    assert "1 unknown" in out


def test_a_missing_folder_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RunError, match="is not a folder"):
        backfill(tmp_path / "nowhere")
    assert cli.main(["tools", "backfill", str(tmp_path / "nowhere")]) == 2
    assert "give a run, or a folder of runs" in capsys.readouterr().err
