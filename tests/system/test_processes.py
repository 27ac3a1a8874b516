"""A process is told from another that has its number."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import psutil
import pytest

from warpzone.system import processes
from warpzone.system.processes import ProcessId


def test_the_own_process_is_alive_and_comes_back_from_its_row() -> None:
    own = ProcessId.own()
    assert own.is_alive() is True
    assert ProcessId.from_row(own.as_row()) == own


def test_a_process_that_has_ended_is_not_alive_even_before_its_parent_knows() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        while psutil.Process(child.pid).status() != psutil.STATUS_ZOMBIE:
            pass
        assert replace(ProcessId.own(), pid=child.pid).is_alive() is False
    assert replace(ProcessId.own(), pid=child.pid).is_alive() is False


def test_the_wall_clock_plays_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """psutil derives times of start from the time of boot, which moves when the clock is set."""
    own = ProcessId.own()
    monkeypatch.setattr(psutil, "boot_time", lambda: 0.0)
    monkeypatch.setattr(psutil.Process, "create_time", lambda self: 0.0)
    assert own.is_alive() is True


@pytest.mark.parametrize("field", ["host", "boot_id", "pid_namespace"])
def test_nobody_can_tell_from_elsewhere(field: str) -> None:
    assert replace(ProcessId.own(), **{field: "another"}).is_alive() is None


def test_a_process_that_the_system_hides_may_be_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = replace(ProcessId.own(), pid=2**22 + 1)
    assert hidden.is_alive() is False
    monkeypatch.setattr(processes.psutil, "pid_exists", lambda pid: True)
    assert hidden.is_alive() is None


def test_systems_without_proc_compare_times_of_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_look_up", processes._look_up_portably)
    own = ProcessId.own()
    assert own.is_alive() is True
    assert replace(own, start_ticks=own.start_ticks - 1).is_alive() is False


@pytest.mark.parametrize(
    "change",
    [
        {"pid": "1"},
        {"pid": 0},
        {"pid": 2**31},
        {"pid": True},
        {"start_ticks": None},
        {"host": 3},
        {"boot_id": []},
    ],
)
def test_rows_of_other_types_name_no_process(change: dict[str, object]) -> None:
    assert ProcessId.from_row(ProcessId.own().as_row() | change) is None
    assert ProcessId.from_row({}) is None
