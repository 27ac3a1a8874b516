"""Faults in the real command (signals, errors, full disk, no memory) lose nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest
from fault_child import AT_UPDATE
from small_disk import fill, small_disk

from warpzone.runs import checkpoint
from warpzone.runs.checkpoint_store import find_latest, list_checkpoints
from warpzone.runs.directory import RunDirectory
from warpzone.runs.listing import summarize_run
from warpzone.telemetry.heartbeat import last_heartbeat

CHILD = Path(__file__).parents[1] / "support" / "fault_child.py"
OPTIONS = (
    "--obs tiles --num-envs 4 --num-threads 1 --rollout-steps 8 --minibatch-size 16 --hidden 16"
)
ENDLESS = "--steps 100000000 --device cpu --torch-threads 1 --display plain --no-video"
TIMEOUT = 300
NO_THREADS = "threads left: []"


class Child:
    """A training process, its output and its run."""

    def __init__(self, process: subprocess.Popen[str], runs: Path):
        self.process, self.runs = process, runs
        self.said: list[str] = []

    def wait_for(self, text: str) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line)
            if text in line:
                return
        pytest.fail(f"it never said {text!r}: {''.join(self.said)}\n{self.end()}")

    def end(self) -> tuple[int, str, str]:
        """Returns the exit code, standard output and standard error."""
        out, err = self.process.communicate(timeout=TIMEOUT)
        return self.process.returncode, "".join(self.said) + (out or ""), err

    @property
    def run(self) -> RunDirectory:
        (path,) = self.runs.iterdir()
        return RunDirectory(path)

    def phase(self) -> str:
        return str((last_heartbeat(self.run.heartbeat) or {})["phase"])


@contextmanager
def training(
    fault: str, runs: Path, *more: str, stdout: int | IO[str] = subprocess.PIPE
) -> Iterator[Child]:
    command = [sys.executable, str(CHILD), fault, "train", "--runs", str(runs)]
    command += [*OPTIONS.split(), *ENDLESS.split(), *more]
    with subprocess.Popen(
        command, stdout=stdout, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            yield Child(process, runs)
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("number", "code", "reason"),
    [(signal.SIGINT, 130, "Ctrl-C"), (signal.SIGHUP, 129, "SIGHUP")],
    ids=["ctrl-c", "hang-up"],
)
def test_a_signal_saves_once_and_sets_the_exit_code(
    tmp_path: Path, rom_path: Path, number: signal.Signals, code: int, reason: str
) -> None:
    with training("told", tmp_path / "runs") as child:
        child.wait_for("several updates done")
        child.process.send_signal(number)
        returned, out, err = child.end()
        assert (returned, err) == (code, "")
        assert f"stopped by {reason}: clear rate" in out
        assert f"resume with: warpzone train --resume {child.run.path}" in out
        assert NO_THREADS in out
        assert len(list_checkpoints(child.run.path)) == 1
        latest = find_latest(child.run.path)
        assert latest is not None
        assert checkpoint.load(latest).meta.updates > AT_UPDATE
        assert child.phase() == "interrupted"
        assert not (child.run.path / "lock.json").exists()


def test_the_second_ctrl_c_exits_immediately(tmp_path: Path, rom_path: Path) -> None:
    with training("slow", tmp_path / "runs", "--checkpoint-minutes", "1e-9") as child:
        child.wait_for("slow update")
        child.process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert child.process.poll() is None, "the first one lets the update end"
        child.process.send_signal(signal.SIGINT)
        code, out, _ = child.end()
        assert code == 130
        assert NO_THREADS in out
        latest = find_latest(child.run.path)
        assert latest is not None
        assert checkpoint.load(latest).meta.updates == AT_UPDATE, "what was saved before stays"
        assert child.phase() == "interrupted"


def test_an_error_in_an_update_saves_the_latest_and_shows_where_it_was(
    tmp_path: Path, rom_path: Path
) -> None:
    with training("broken", tmp_path / "runs") as child:
        code, out, err = child.end()
        assert code == 1
        assert err.rstrip().endswith("ZeroDivisionError: a bug")
        assert NO_THREADS in out
        latest = find_latest(child.run.path)
        assert latest is not None
        assert checkpoint.load(latest).meta.updates == AT_UPDATE
        assert child.phase() == "crashed"
        assert "ZeroDivisionError: a bug" in child.run.log.read_text()


def test_out_of_memory_in_the_command_is_one_message_and_the_state_is_saved(
    tmp_path: Path, rom_path: Path
) -> None:
    with training("hungry", tmp_path / "runs") as child:
        code, out, err = child.end()
        assert code == 2
        assert err.startswith("error: memory ran out (CUDA out of memory. Tried to allocate 2 GiB)")
        assert err.count("\n") == 1
        assert "the latest state is saved" in err
        assert NO_THREADS in out
        assert find_latest(child.run.path) is not None


def assert_survived(child: Child) -> None:
    code, out, err = child.end()
    assert code == 2
    assert NO_THREADS in out
    assert "nanobind" not in err, "something still holds on to the environments"
    (line,) = [line for line in err.splitlines() if line.startswith("error: ")]
    assert "cannot be written" in line
    assert "earlier checkpoints are untouched" in line
    assert list_checkpoints(child.run.path)
    for path in list_checkpoints(child.run.path):
        checkpoint.load(path)
    assert not list(child.run.checkpoints.glob(".*")), "a part of a file stayed behind"


def test_a_full_disk_stops_the_run_with_one_message(tmp_path: Path, rom_path: Path) -> None:
    with (
        small_disk(tmp_path, "8m") as disk,
        training("told", disk / "runs", "--checkpoint-minutes", "1e-9") as child,
    ):
        child.wait_for("several updates done")
        fill(disk)
        assert_survived(child)


def test_a_file_size_limit_behaves_like_a_full_disk(tmp_path: Path, rom_path: Path) -> None:
    """Tests a full disk on systems where no file system can be mounted."""
    with training("limited", tmp_path / "runs", "--checkpoint-minutes", "1e-9") as child:
        assert_survived(child)


def test_a_stop_signal_for_the_whole_group_ends_a_run_with_worker_processes(
    tmp_path: Path, rom_path: Path
) -> None:
    """Service managers and closed terminals send such signals."""
    with training("told", tmp_path / "runs", "--vector", "async") as child:
        child.wait_for("several updates done")
        os.killpg(child.process.pid, signal.SIGTERM)
        code, out, err = child.end()
        assert (code, err) == (143, "")
        assert "replaced" not in out
        assert find_latest(child.run.path) is not None
        assert child.phase() == "interrupted"
        logs = sorted(path.name for path in child.run.workers.glob("*.jsonl"))
        assert logs == [f"worker-{index}.jsonl" for index in range(4)]


def test_a_run_whose_output_goes_to_a_full_disk_trains_to_its_end(
    tmp_path: Path, rom_path: Path
) -> None:
    with (
        Path("/dev/full").open("w") as full,
        training("none", tmp_path / "runs", "--steps", "160", stdout=full) as child,
    ):
        code, _, err = child.end()
        assert (code, err.count("Traceback")) == (0, 0), err
        assert child.phase() == "finished"
        assert summarize_run(child.run.path).steps == 160
