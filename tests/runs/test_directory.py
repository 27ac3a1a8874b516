import json
import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from warpzone.errors import RunError
from warpzone.runs.directory import RunDirectory
from warpzone.runs.listing import list_runs, summarize_run
from warpzone.system.processes import ProcessId
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
    with pytest.raises(RunError, match="no name for a run"):
        RunDirectory.create(tmp_path, name, CONFIG)


def test_what_is_no_run_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"has no config\.toml"):
        RunDirectory.open(tmp_path)


def test_the_log_has_prefixes(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "mario-1-1", CONFIG)
    with run.logging():
        logging.getLogger("warpzone.envs.vector").info("16 lanes")
        logging.getLogger("warpzone.train.loop").warning("slow")
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


def test_a_run_is_held_once(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "run", CONFIG)
    with run.lock(), pytest.raises(RunError, match="in use"), run.lock():
        pass
    with run.lock():
        pass
    assert not (run.path / "lock.json").exists()


HOLD = """
import sys, pathlib
from warpzone.runs.lock import run_lock
with run_lock(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_process_is_named_and_a_killed_one_taken_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = RunDirectory.create(tmp_path, "run", CONFIG)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(run.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(RunError, match=f"in use by process {holder.pid} on"), run.lock():
            pass
        holder.kill()
    with run.lock():
        assert "left locked by" in caplog.text


def test_a_process_elsewhere_counts_while_its_heartbeat_is_fresh(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "run", CONFIG)
    elsewhere = ProcessId.own().as_row() | {"host": "elsewhere", "pid": 1}
    (run.path / "lock.json").write_text(json.dumps(elsewhere))
    run.heartbeat.write_text(
        json.dumps({"time": time.time(), "phase": "learn", **elsewhere}) + "\n"
    )
    with pytest.raises(RunError, match="process 1 on elsewhere"), run.lock():
        pass
    run.heartbeat.write_text(json.dumps({"time": 1.0, "phase": "learn", **elsewhere}) + "\n")
    with run.lock():
        pass


def test_an_unreadable_lock_is_no_lock(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "run", CONFIG)
    (run.path / "lock.json").write_text("{half")
    with run.lock():
        assert json.loads((run.path / "lock.json").read_text())["pid"] == os.getpid()


RACE = """
import sys, pathlib, time
from warpzone.errors import RunError
from warpzone.runs.lock import run_lock
while time.time() < float(sys.argv[2]):
    pass
try:
    with run_lock(pathlib.Path(sys.argv[1])):
        print("held", flush=True)
        sys.stdin.read()
except RunError:
    print("refused", flush=True)
"""


def test_of_many_at_once_one_gets_the_lock(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "run", CONFIG)
    stale = ProcessId.own().as_row() | {"pid": 2**22 + 1}
    (run.path / "lock.json").write_text(json.dumps(stale))  # all see a lock to take over
    moment = str(time.time() + 3)
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(run.path), moment],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(5)
    ]
    answers = [racer.stdout.readline().strip() for racer in racers if racer.stdout]
    for racer in racers:
        racer.communicate()
    assert sorted(answers) == ["held"] + ["refused"] * 4
