"""Two trainers never hold one run, whatever happens to clocks, namespaces and processes."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from small_disk import refuse_writes

from warpzone.errors import RunError
from warpzone.runs.lock import LOCK_FILE, lock_holder, run_lock
from warpzone.system import file_lock, processes
from warpzone.system.atomic_file import write_text_atomically
from warpzone.system.file_lock import AdvisoryLock
from warpzone.system.processes import ProcessId

HOLD = """
import sys, pathlib
from warpzone.runs.lock import run_lock
with run_lock(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another_trainer(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A real process that holds the run until the block ends or it is killed."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=pipe, stdout=pipe, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def beat(folder: Path, age: float = 0.0, **changes: object) -> None:
    holder = lock_holder(folder) or ProcessId.own()
    row = {"time": time.time() - age, "phase": "learn", **holder.as_row(), **changes}
    (folder / "heartbeat.jsonl").write_text(json.dumps(row) + "\n")


def leave_lock(folder: Path, holder: ProcessId) -> None:
    write_text_atomically(folder / LOCK_FILE, json.dumps(holder.as_row()))


def assert_refused(folder: Path, match: str = "in use") -> None:
    with pytest.raises(RunError, match=match), run_lock(folder):
        pass


def test_a_run_is_held_once(tmp_path: Path) -> None:
    with run_lock(tmp_path):
        assert_refused(tmp_path, "in use by this process already")
        assert lock_holder(tmp_path) == ProcessId.own()
    with run_lock(tmp_path):
        pass
    assert not (tmp_path / LOCK_FILE).exists()


def test_another_process_is_named_and_a_killed_one_taken_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with another_trainer(tmp_path) as holder:
        assert_refused(tmp_path, f"in use by process {holder.pid} on")
        holder.kill()
        holder.wait()
        with run_lock(tmp_path):
            assert "left locked by" in caplog.text


def test_a_trainer_in_another_pid_namespace_is_not_taken_for_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container with the same host name sees neither the process nor what its number means."""
    with another_trainer(tmp_path):
        monkeypatch.setattr(processes, "pid_namespace", lambda: "pid:[1]")
        assert_refused(tmp_path)
        # Nor where the file system has no locks, as long as the run shows signs of life.
        monkeypatch.setattr(AdvisoryLock, "try_acquire", lambda self: "unsupported")
        beat(tmp_path)
        assert_refused(tmp_path)


def test_a_clock_step_does_not_make_a_live_trainer_look_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with another_trainer(tmp_path):
        beat(tmp_path, age=3600)  # As it looks after the clock was set forward by an hour.
        assert_refused(tmp_path)
        monkeypatch.setattr(AdvisoryLock, "try_acquire", lambda self: "unsupported")
        assert_refused(tmp_path)


def test_a_frozen_trainer_keeps_its_run(tmp_path: Path) -> None:
    with another_trainer(tmp_path):
        (tmp_path / LOCK_FILE).unlink()  # Even without its name, the system's lock is held.
        beat(tmp_path, age=3600)
        assert_refused(tmp_path, "in use by another process")


def test_a_holder_that_cannot_be_seen_counts_while_its_heartbeat_is_fresh(tmp_path: Path) -> None:
    for change in ({"host": "elsewhere"}, {"boot_id": "another"}, {"pid_namespace": "pid:[1]"}):
        leave_lock(tmp_path, replace(ProcessId.own(), pid=1, **change))
        beat(tmp_path)
        assert_refused(tmp_path, "in use by process 1 on")
        beat(tmp_path, age=3600)
        with run_lock(tmp_path):
            pass


def test_a_process_that_has_ended_here_is_gone_whatever_its_heartbeat_says(tmp_path: Path) -> None:
    leave_lock(tmp_path, replace(ProcessId.own(), pid=2**22 + 1))
    beat(tmp_path)
    with run_lock(tmp_path):
        pass


def test_a_process_number_that_was_given_again_is_not_the_holder(tmp_path: Path) -> None:
    own = ProcessId.own()
    leave_lock(tmp_path, replace(own, pid=os.getppid(), start_ticks=own.start_ticks - 10**9))
    with run_lock(tmp_path):
        pass


@pytest.mark.parametrize("content", ["{half", "[]", "{}", '{"pid": "1"}', "[" * 100_000])
def test_an_unreadable_lock_file_names_nobody(tmp_path: Path, content: str) -> None:
    (tmp_path / LOCK_FILE).write_text(content)
    with run_lock(tmp_path):
        assert lock_holder(tmp_path) == ProcessId.own()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_worker_that_outlives_the_trainer_does_not_hold_the_run(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    with run_lock(tmp_path):
        child = os.fork()
        if child == 0:
            os.close(writer)
            os.read(reader, 1)  # Lives until the pipe closes.
            os._exit(0)
    with run_lock(tmp_path):
        pass
    os.close(writer)
    os.waitpid(child, 0)
    os.close(reader)


def test_programs_started_by_the_trainer_do_not_hold_the_run(tmp_path: Path) -> None:
    with run_lock(tmp_path):
        child = subprocess.Popen(
            [sys.executable, "-c", "import sys; sys.stdin.read()"],
            stdin=subprocess.PIPE,
            close_fds=False,
        )
    with run_lock(tmp_path):
        pass
    child.communicate()


def test_a_lock_file_that_cannot_be_removed_does_not_hide_the_first_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, missing_ok: bool = False) -> None:
        raise OSError(30, "Read-only file system", str(self))

    with pytest.raises(ZeroDivisionError), run_lock(tmp_path):  # noqa: PT012
        monkeypatch.setattr(Path, "unlink", refuse)
        raise ZeroDivisionError
    monkeypatch.undo()
    with run_lock(tmp_path):  # What stayed behind names this process, which has given it back.
        pass


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot be locked for training"), run_lock(tmp_path / "no"):
        pass


def test_a_full_disk_refuses_the_lock_and_leaves_it_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_fault = refuse_writes(monkeypatch)
    assert_refused(tmp_path, "No space left")
    end_fault()
    with run_lock(tmp_path):
        pass


RACE = """
import sys, pathlib
from warpzone.errors import RunError
from warpzone.runs.lock import run_lock
print("ready", flush=True)
sys.stdin.readline()
try:
    with run_lock(pathlib.Path(sys.argv[1])):
        print("held", flush=True)
        sys.stdin.read()
except RunError:
    print("refused", flush=True)
"""


@pytest.mark.parametrize("advisory", [True, False], ids=["locks", "stale lock.json"])
def test_of_many_at_once_one_gets_the_lock(tmp_path: Path, advisory: bool) -> None:
    if not advisory:
        leave_lock(tmp_path, replace(ProcessId.own(), pid=2**22 + 1))
    pipe = subprocess.PIPE
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(tmp_path)], stdin=pipe, stdout=pipe, text=True
        )
        for _ in range(4)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    answers = [racer.stdout.readline().strip() for racer in racers if racer.stdout]
    for racer in racers:
        racer.communicate()
    assert sorted(answers) == ["held"] + ["refused"] * 3


def test_file_systems_without_locks_are_told_from_locks_that_are_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = AdvisoryLock(tmp_path / "lock")
    for number, answer in ((errno.EWOULDBLOCK, "held"), (errno.ENOLCK, "unsupported")):

        def fail(*_: object, number: int = number) -> None:
            raise OSError(number, "no")

        monkeypatch.setattr(file_lock.fcntl, "flock", fail)
        assert lock.try_acquire() == answer
    lock.close()
