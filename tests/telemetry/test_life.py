"""Heartbeat, resources and the log file."""

import logging
import os
import shutil
import sys
import time
import types
from pathlib import Path

import pytest
from small_disk import refuse_writes

from warpzone.system.processes import ProcessId
from warpzone.telemetry.heartbeat import Heartbeat, last_heartbeat, state_of
from warpzone.telemetry.log_file import LogFileHandler, log_to, prefix_of
from warpzone.telemetry.metrics import clean_row
from warpzone.telemetry.reading import read_lines
from warpzone.telemetry.resources import ResourceMonitor


def wait_for(condition: object, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def test_heartbeats_continue_while_the_loop_is_idle(tmp_path: Path) -> None:
    path = tmp_path / "heartbeat.jsonl"
    heart = Heartbeat(path, interval=0.02)
    heart.beat("rollout", update=3, steps=300)
    wait_for(lambda: len(list(read_lines(path))) >= 5)
    row = last_heartbeat(path)
    assert row is not None
    assert (row["phase"], row["update"], row["steps"]) == ("rollout", 3, 300)
    assert row["pid"] == os.getpid()
    assert state_of(row) == "running"
    heart.close("interrupted")
    assert state_of(last_heartbeat(path)) == "interrupted"


def test_only_an_increase_counts_as_progress(tmp_path: Path) -> None:
    heart = Heartbeat(tmp_path / "heartbeat.jsonl")
    heart.beat("rollout", update=1, steps=10)
    time.sleep(0.05)
    heart.beat("learn", update=1, steps=10)
    assert heart.seconds_since_progress >= 0.05
    heart.beat(steps=11)
    assert heart.seconds_since_progress < 0.05
    heart.close()


def test_the_state_of_a_run_follows_from_its_last_heartbeat() -> None:
    own = ProcessId.own().as_row()
    now = time.time()
    fresh = {"time": now, "phase": "learn", **own}
    assert state_of(None) == "new"
    assert state_of(fresh) == "running"
    assert state_of(fresh | {"time": now - 120}) == "stalled"  # frozen: alive without a heartbeat
    assert state_of(fresh | {"stalled": True}) == "stalled"
    assert state_of(fresh | {"time": now - 120, "host": "elsewhere"}) == "crashed"
    assert state_of(fresh | {"time": "yesterday"}) == "stalled"
    assert state_of(fresh | {"pid": 2**22 + 1}) == "crashed"
    assert state_of(fresh | {"start_ticks": 1}) == "crashed"  # the number is used again
    assert state_of(fresh | {"host": "elsewhere"}) == "running"
    assert state_of(fresh | {"phase": "finished", "time": 0}) == "finished"


def test_resources_are_window_means_and_an_absent_gpu_is_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monitor = ResourceMonitor(tmp_path, interval=0.02)
    wait_for(monitor.metrics)
    row = monitor.metrics()
    monitor.close()
    clean_row(row)
    assert row["resources/memory_bytes"] > 10_000_000
    assert row["resources/disk_free_bytes"] > 0
    assert not [name for name in row if "gpu" in name]


class FakeNvmlError(Exception):
    pass


def fake_nvml(count: int) -> types.SimpleNamespace:
    def refuse(*_: object) -> None:
        raise FakeNvmlError

    return types.SimpleNamespace(
        NVMLError=FakeNvmlError,
        NVML_TEMPERATURE_GPU=0,
        nvmlInit=(lambda: None) if count else refuse,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetCount=lambda: count,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetUtilizationRates=lambda index: types.SimpleNamespace(gpu=50 + index),
        nvmlDeviceGetMemoryInfo=lambda index: types.SimpleNamespace(used=1000),
        nvmlDeviceGetPowerUsage=refuse,  # as on some cards
        nvmlDeviceGetTemperature=lambda index, kind: 60,
    )


def test_gpus_are_read_by_index_and_missing_readings_are_omitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml(2))
    monitor = ResourceMonitor(interval=0.02)
    wait_for(monitor.metrics)
    row = monitor.metrics()
    monitor.close()
    clean_row(row)
    assert row["resources/gpu_percent/1"] == 51
    assert row["resources/gpu_memory_bytes/0"] == 1000
    assert not [name for name in row if "watts" in name]


def test_nvml_without_a_driver_means_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml(0))
    monitor = ResourceMonitor(interval=0.02)
    wait_for(monitor.metrics)
    assert not [name for name in monitor.metrics() if "gpu" in name]
    monitor.close()


@pytest.mark.parametrize(
    ("logger", "prefix"),
    [
        ("warpzone.envs.vector", "env"),
        ("warpzone.replay.tree", "replay"),
        ("warpzone.training.guidance.hints", "hint"),
        ("warpzone.bench.env", "bench"),
        ("warpzone.runs.backfill", "migrate"),
        ("warpzone.training.loop", "train"),
        ("warpzone.environment", "train"),
    ],
)
def test_prefixes(logger: str, prefix: str) -> None:
    assert prefix_of(logger) == prefix


def test_the_log_file_survives_a_deleted_folder_and_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run" / "log.txt"
    path.parent.mkdir()
    logger = logging.getLogger("warpzone.envs.vector")
    with log_to(LogFileHandler(path)):
        logger.info("one")
        shutil.rmtree(path.parent)
        logger.info("lost with the folder")
        path.parent.mkdir()
        logger.warning("two")
        end_fault = refuse_writes(monkeypatch)
        logger.info("lost")
        logger.info("lost too")
        end_fault()
        logger.info("three")
    lines = path.read_text().splitlines()
    assert lines[0] == "(1 lines were lost here)"
    assert lines[1].endswith("[env] warning: two")
    assert lines[2] == "(2 lines were lost here)"
    assert lines[3].endswith("[env] three")
    assert capsys.readouterr().err.count("cannot be written") == 2
    logger.info("after the block")
    assert len(path.read_text().splitlines()) == 4
