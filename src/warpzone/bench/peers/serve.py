"""The line protocol between a benchmark and a peer's worker.

The parent writes a line with a number of seconds and a clock ("wall" or "cpu"); the worker runs its
workload for about that long and answers with one line of JSON. A worker that waits for its turn
uses no CPU time, so contestants can take turns within one run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from .install import IMPORT_FROM

# "cpu" suits single-threaded workloads on a busy machine.
CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "cpu": time.process_time}


def measure(run: Callable[[int], None], seconds: float, batch: int, clock: str = "wall") -> float:
    """Calls `run(batch)` repeatedly for `seconds`.

    Returns:
        Units per second; each call counts as `batch` units.
    """
    now = CLOCKS[clock]
    units = 0
    start = now()
    while (elapsed := now() - start) < seconds:
        run(batch)
        units += batch
    return units / elapsed


def serve(run: Callable[[int], None], batch: int) -> None:
    """Answers requests until the parent closes the pipe; runs inside a worker."""
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        seconds, clock = line.split()
        print(json.dumps({"rate": measure(run, float(seconds), batch, clock)}), flush=True)


class Worker:
    """A peer's worker process."""

    def __init__(self, python: Path, script: str, *arguments: str) -> None:
        """Starts a module of `peers` with the peer's interpreter and waits until it is ready."""
        self._process = subprocess.Popen(
            [str(python), "-m", f"peers.{script}", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(IMPORT_FROM)},
        )
        self._script = script
        self._read()

    def rate(self, seconds: float, clock: str) -> float:
        """Runs the workload for about this long and returns units per second."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{seconds} {clock}\n")
        self._process.stdin.flush()
        return float(self._read()["rate"])

    def close(self) -> None:
        """Stops the worker."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)

    def _read(self) -> dict[str, float]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):  # Peers also print banners and warnings.
                answer: dict[str, float] = json.loads(line)
                return answer
        raise RuntimeError(f"{self._script} exited with status {self._process.wait()}")
