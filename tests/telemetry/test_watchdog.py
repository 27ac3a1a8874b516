"""Stalls and slow steps, and nothing else, dump the stacks of all threads."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

import pytest

from warpzone.telemetry.watchdog import SlowSteps, StallWatchdog


def waiting_here(release: threading.Event) -> None:
    release.wait(30)


def test_a_stall_dumps_every_thread_once_until_the_run_resumes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    idle = 0.0
    watchdog = StallWatchdog(lambda: idle, limit=1000.0, folder=tmp_path / "stalls")
    release = threading.Event()
    thread = threading.Thread(target=waiting_here, args=(release,))
    thread.start()
    with caplog.at_level(logging.WARNING, "warpzone"):
        watchdog.look()
        assert not (tmp_path / "stalls").exists()
        idle = 1234.0
        watchdog.look()
        watchdog.look()
        (file,) = (tmp_path / "stalls").iterdir()
        text = file.read_text()
        assert "no progress for 1234 s" in text
        assert "waiting_here" in text
        assert "test_a_stall_dumps_every_thread" in text
        idle = 0.0
        watchdog.look()
    release.set()
    thread.join()
    watchdog.close()
    assert watchdog.stalls == 1
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert str(file) in caplog.messages[0]
    assert caplog.messages[1] == "the run has resumed after a stall"


def test_the_watchdog_checks_in_its_own_thread(tmp_path: Path) -> None:
    began = time.monotonic()
    watchdog = StallWatchdog(lambda: time.monotonic() - began, 0.05, tmp_path)
    while watchdog.stalls == 0 and time.monotonic() - began < 60:
        time.sleep(0.01)
    watchdog.close()
    assert watchdog.stalls == 1


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def step(steps: SlowSteps, clock: Clock, seconds: float) -> None:
    steps.begin()
    clock.now += seconds
    steps.end()


def test_tracing_begins_only_after_k_slow_steps_within_the_window(tmp_path: Path) -> None:
    clock = Clock()
    steps = SlowSteps(limit=1.0, count=3, window=60.0, folder=tmp_path, clock=clock)
    for _ in range(5):
        step(steps, clock, 2.0)
        clock.now += 40  # Never three within sixty seconds.
        step(steps, clock, 0.1)
    assert list(tmp_path.iterdir()) == []
    for _ in range(3):
        step(steps, clock, 2.0)
    steps.close()
    (file,) = tmp_path.iterdir()
    assert "3 steps within 60 s were slow: 2.00, 2.00, 2.00 s" in file.read_text()


def test_there_is_one_file_per_window(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    steps = SlowSteps(limit=1.0, count=2, window=60.0, folder=tmp_path, clock=clock)
    with caplog.at_level(logging.WARNING, "warpzone"):
        for _ in range(20):
            step(steps, clock, 2.0)
        assert len(caplog.records) == 1
        clock.now += 60
        for _ in range(2):
            step(steps, clock, 2.0)
    steps.close()
    assert len(caplog.records) == 2


def slow_part(clock: Clock, trace: Path) -> None:
    """Takes longer than the limit, until the tracer has noticed."""
    clock.now += 5.0
    deadline = time.monotonic() + 60
    while "has taken" not in trace.read_text() and time.monotonic() < deadline:
        time.sleep(0.01)


def test_a_trace_shows_where_a_slow_step_is(tmp_path: Path) -> None:
    clock = Clock()
    steps = SlowSteps(limit=0.02, count=1, window=60.0, folder=tmp_path, clock=clock)
    step(steps, clock, 1.0)
    (file,) = tmp_path.iterdir()
    steps.begin()
    slow_part(clock, file)
    steps.end()
    steps.close()
    assert "slow_part" in file.read_text().split("has taken")[1]


def test_a_full_disk_does_not_stop_a_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "taken").write_text("a file where a folder should be")
    watchdog = StallWatchdog(lambda: 1e9, 1000.0, tmp_path / "taken")
    with caplog.at_level(logging.WARNING, "warpzone"):
        watchdog.look()
    watchdog.close()
    assert "cannot be written" in caplog.text
