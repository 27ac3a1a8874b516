"""What `--resume` may name: a path, a run below the runs folder, or the newest."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from tiny import UPDATE, tiny

from warpzone import cli
from warpzone.errors import CheckpointError, ResumeError
from warpzone.runs.checkpoint import CheckpointMeta, read_meta
from warpzone.runs.checkpoint_store import CheckpointStore, find_latest
from warpzone.runs.directory import RunDirectory
from warpzone.runs.resume import resolve_run
from warpzone.training import session


def make_run(runs: Path, name: str, level: str = "1-1", age: float = 0.0) -> RunDirectory:
    run = RunDirectory.create(runs, name, f'[env]\nlevel = "{level}"\n')
    CheckpointStore(run.checkpoints).save({}, CheckpointMeta(1, 1))
    moment = time.time() - age
    os.utime(run.config, (moment, moment))
    return run


def test_a_path_comes_before_a_name_and_a_name_is_found_deep_down(tmp_path: Path) -> None:
    deep = make_run(tmp_path / "runs" / "tuesday", "mario")
    assert resolve_run(str(deep.path), tmp_path) == deep.path
    assert resolve_run("mario", tmp_path / "runs") == deep.path


def test_a_name_that_fits_several_or_none_is_refused(tmp_path: Path) -> None:
    make_run(tmp_path / "a", "mario")
    make_run(tmp_path / "b", "mario")
    with pytest.raises(ResumeError, match=r"several runs are named mario: .*a/mario, .*b/mario"):
        resolve_run("mario", tmp_path)
    with pytest.raises(ResumeError, match="luigi is not a path, and no run below"):
        resolve_run("luigi", tmp_path)


def test_newest_is_the_last_one_of_the_level(tmp_path: Path) -> None:
    make_run(tmp_path, "old", "1-1", age=300)
    newer = make_run(tmp_path, "newer", "1-1", age=200)
    other = make_run(tmp_path, "other", "1-2", age=100)
    assert resolve_run("newest", tmp_path) == other.path
    assert resolve_run("newest", tmp_path, "1-1") == newer.path
    with pytest.raises(ResumeError, match="no run of level 8-4 below"):
        resolve_run("newest", tmp_path, "8-4")


def test_newest_never_passes_over_a_run_whose_checkpoints_are_damaged(tmp_path: Path) -> None:
    make_run(tmp_path, "old", age=300)
    newer = make_run(tmp_path, "newer", age=200)
    path = find_latest(newer.path)
    assert path is not None
    path.write_bytes(b"broken")
    with pytest.raises(CheckpointError, match=r"no checkpoint in .*newer.* is intact"):
        resolve_run("newest", tmp_path)


def test_the_command_resumes_by_name_and_says_which_run(
    tmp_path: Path, rom_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, _ = session.start(tiny(tmp_path, name="mario", torch_threads=1), "quiet")
    arguments = ["--runs", str(tmp_path), "--steps", str(4 * UPDATE), "--no-video"]
    assert cli.main(["train", "--resume", "newest", *arguments, "--display", "quiet"]) == 0
    latest = find_latest(run.path)
    assert latest is not None
    assert read_meta(latest).steps == 4 * UPDATE
    assert len(list(tmp_path.iterdir())) == 1, "a new run was made"
    assert f"resuming {run.path}" in capsys.readouterr().out


def test_an_unknown_name_is_one_sentence_and_starts_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs"
    assert cli.main(["train", "--resume", "newest", "--runs", str(runs)]) == 2
    assert "error: no run below" in capsys.readouterr().err
    assert not runs.exists()
