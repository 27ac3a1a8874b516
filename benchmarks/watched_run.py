"""A run that trains and a dashboard that serves it, each in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
from websockets.asyncio.client import connect
from websockets.typing import Origin

from warpzone.runs.directory import RunDirectory

TOKEN = "a-token-for-benchmarks"
CONFIRMATION = '{"shown": true}'
"""What a browser answers to every message with frames."""
_START_SECONDS = 300.0


@contextlib.contextmanager
def training(folder: Path, num_envs: int, *options: str) -> Iterator[tuple[psutil.Process, Path]]:
    """Trains from tiles until the block ends; yields the process and the run's folder."""
    command = [sys.executable, "-m", "warpzone", "train", f"--runs={folder}", "--name=watched"]
    command += ["--level=1-1", "--obs=tiles", f"--num-envs={num_envs}", "--steps=10G"]
    command += ["--no-video", "--video-minutes=0", "--display=quiet", "--log-every=1", *options]
    with _process(command) as process:
        run = folder / "watched"
        _wait_until(lambda: steps_of(run) > 0, "the run does not train")
        yield psutil.Process(process.pid), run


@contextlib.contextmanager
def dashboard(folder: Path) -> Iterator[tuple[psutil.Process, str]]:
    """Serves a folder until the block ends; yields the process and the address."""
    command = [sys.executable, "-m", "warpzone", "dashboard", str(folder), "--port=0"]
    with _process([*command, "--no-browser", f"--token={TOKEN}"]) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = line.partition("dashboard: ")[2].partition("?")[0].strip()
        if not address:
            raise SystemExit(f"the dashboard did not start: {line}")
        yield psutil.Process(process.pid), address


def connect_wall(address: str) -> connect:
    """A WebSocket to the live wall of the run, as a browser opens it."""
    return connect(
        f"{address.replace('http', 'ws', 1)}ws/wall?run=watched",
        origin=Origin(address.rstrip("/")),
        additional_headers=headers(),
        max_size=None,
        max_queue=1,  # A slow reader leaves messages in the connection, as a slow browser does.
        compression=None,
    )


def headers() -> dict[str, str]:
    """Headers that present the token."""
    return {"authorization": f"Bearer {TOKEN}"}


def steps_of(run: Path) -> int:
    """Environment steps of a run so far."""
    try:
        lines = RunDirectory(run).heartbeat.read_bytes().splitlines()
        return int(json.loads(lines[-1]).get("steps") or 0)
    except (OSError, ValueError, IndexError):
        return 0


def cpu_seconds(process: psutil.Process) -> float:
    """CPU time of a process so far."""
    times = process.cpu_times()
    return float(times.user + times.system)


@contextlib.contextmanager
def _process(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


def _wait_until(is_ready: object, problem: str) -> None:
    assert callable(is_ready)
    deadline = time.monotonic() + _START_SECONDS
    while not is_ready():
        if time.monotonic() > deadline:
            raise SystemExit(problem)
        time.sleep(0.2)
