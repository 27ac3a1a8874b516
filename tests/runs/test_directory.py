import logging
import os
import time
from pathlib import Path

import pytest

from warpzone.errors import RunError
from warpzone.runs.directory import RunDirectory
from warpzone.runs.listing import list_runs, summarize_run
from warpzone.telemetry.heartbeat import Heartbeat
from warpzone.telemetry.jsonl import JsonlSink

CONFIG = 'seed = 1\n\n[env]\nlevel = "1-1"\n'


def test_names_are_unique(tmp_path: Path) -> None:
    names = [RunDirectory.create(tmp_path / "runs", "mario-1-1", CONFIG).name for _ in range(3)]
    assert names == ["mario-1-1", "mario-1-1-2", "mario-1-1-3"]


def test_a_new_run_can_be_opened(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "mario-1-1", CONFIG)
    assert RunDirectory.open(run.path).read_config() == CONFIG
    assert run.checkpoints.is_dir()
    assert run.videos.is_dir()
    assert run.events.is_dir()


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "a b"])
def test_names_that_are_no_directory_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(RunError, match="cannot name a run"):
        RunDirectory.create(tmp_path, name, CONFIG)


def test_what_is_no_run_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"has no config\.toml"):
        RunDirectory.open(tmp_path)


def test_the_log_has_prefixes(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "mario-1-1", CONFIG)
    with run.logging():
        logging.getLogger("warpzone.envs.vector").info("16 lanes")
        logging.getLogger("warpzone.training.loop").warning("slow")
    first, second = run.log.read_text().splitlines()
    assert first.endswith("Z [env] 16 lanes")
    assert second.endswith("Z [train] warning: slow")


def test_runs_are_listed_with_what_they_have_come_to(tmp_path: Path) -> None:
    for name, phase in (("a", "finished"), ("b", "interrupted"), ("c", "crashed")):
        run = RunDirectory.create(tmp_path / "deep", name, CONFIG)
        JsonlSink(run.metrics).write({"run/steps": 500, "rollout/clear_rate": 0.25})
        heart = Heartbeat(run.heartbeat)
        heart.beat("learn", update=5, steps=640)
        heart.close(phase)
    fresh = RunDirectory.create(tmp_path, "new", 'levels = ["1-1", "1-2"]')
    found = {run.path.name: run for run in list_runs(tmp_path)}
    assert {name: run.state for name, run in found.items()} == {
        "a": "finished",
        "b": "interrupted",
        "c": "crashed",
        "new": "new",
    }
    assert found["a"].level == "1-1"
    assert found["a"].steps == 640
    assert found["a"].clear_rate == 0.25
    assert found["new"].level == "1-1,1-2"
    assert found["new"].clear_rate is None
    assert [run.path for run in list_runs(fresh.path)] == [fresh.path]


def test_the_search_is_bounded_in_depth_and_entries(tmp_path: Path) -> None:
    RunDirectory.create(tmp_path / "1" / "2" / "3", "deep", CONFIG)
    RunDirectory.create(tmp_path, "near", CONFIG)
    assert [run.path.name for run in list_runs(tmp_path, depth=3)] == ["near"]
    assert len(list_runs(tmp_path, depth=4)) == 2
    for number in range(200):
        (tmp_path / f"folder-{number}").mkdir()
    began = time.monotonic()
    list_runs(tmp_path, depth=50, most_entries=50)
    assert time.monotonic() - began < 2.0
    assert list_runs(tmp_path / "missing") == []


def test_links_in_circles_end(tmp_path: Path) -> None:
    RunDirectory.create(tmp_path, "run", CONFIG)
    (tmp_path / "circle").symlink_to(tmp_path)
    assert len(list_runs(tmp_path)) == 1


def test_damaged_files_do_not_stop_the_list(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "run", "not = = toml")
    run.heartbeat.write_text("{half")
    run.metrics.write_text('{"run/steps": null}\n')
    summary = summarize_run(run.path)
    assert (summary.level, summary.steps, summary.state) == (None, 0, "new")


def test_a_run_may_have_any_name_of_letters_and_lie_in_any_folder_that_is_utf_8(
    tmp_path: Path,
) -> None:
    parent = tmp_path / "läufe \U0001f344\x1b[31m\x7f\"'"
    run = RunDirectory.create(parent, "mario-\U0001d400-1", CONFIG)
    assert RunDirectory.open(run.path).read_config() == CONFIG


@pytest.mark.skipif(os.name == "nt", reason="file names are Unicode there")
def test_a_folder_whose_name_is_not_utf_8_is_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    parent = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    with pytest.raises(RunError, match="not UTF-8"):
        RunDirectory.create(parent, "mario", CONFIG)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[" * 20_000_000], ids=["binary", "large"])
def test_a_configuration_that_is_not_small_text_is_one_sentence(
    tmp_path: Path, content: bytes
) -> None:
    run = RunDirectory.create(tmp_path, "mario", CONFIG)
    run.config.write_bytes(content)
    with pytest.raises(RunError, match=r"config\.toml is damaged"):
        run.read_config()


def test_locking_a_run_removes_what_a_killed_process_left_half_written(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "mario", CONFIG)
    left = [run.path / ".config.toml.4194305.tmp.toml", run.videos / ".a.mp4.4194305.tmp.mp4"]
    for path in left:
        path.write_bytes(b"half")
    with run.lock():
        assert not any(path.exists() for path in left)
