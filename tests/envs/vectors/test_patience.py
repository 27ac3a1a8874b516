"""Time limits end in spite of everything, but not because the whole job was stopped."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from typing import Any

import pytest

from warpzone.envs.vectors import patience
from warpzone.envs.vectors.patience import Patience


def run_clock(monkeypatch: pytest.MonkeyPatch, takes: Callable[[float], float]) -> list[float]:
    """A clock on which a wait takes as long as `takes` says; returns the waits asked for."""
    now, asked = [0.0], []

    def wait(_: Any, timeout: float) -> list[Any]:
        asked.append(timeout)
        now[0] += takes(timeout)
        return []

    monkeypatch.setattr(patience, "wait", wait)
    monkeypatch.setattr(patience.time, "monotonic", lambda: now[0])
    return asked


def test_limit_is_used_up_by_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = run_clock(monkeypatch, lambda timeout: timeout)
    assert Patience(10.5).wait([]) == []
    assert sum(asked) == 10.5


def test_pause_of_the_whole_job_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = iter([3600.0])
    asked = run_clock(monkeypatch, lambda timeout: next(pauses, timeout))
    assert Patience(10.0).wait([]) == []
    assert 9.0 <= sum(asked) <= 10.0


def test_ready_connection_is_told_at_once() -> None:
    ours, theirs = multiprocessing.Pipe()
    theirs.send("here")
    limit = Patience(600.0)
    assert limit.wait([ours]) == [ours]
    assert limit.left > 590.0
    ours.close()
    theirs.close()
