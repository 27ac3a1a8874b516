"""Starting environments many times, each in a fresh process, and logging the results."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from warpzone.doctor.trial import STAGES, TrialOptions
from warpzone.envs.vectors.patience import Patience
from warpzone.system.atomic_file import check_writable

# The trial's own timeouts fire first because they know which worker is stuck; these limits are for
# a trial that hangs altogether.
_GRACE_SECONDS = 15.0
_KILL_SECONDS = 10.0
# Python's resource tracker outlives the trial, by several seconds on a busy machine.
_LEAVE_SECONDS = 30.0

Row = dict[str, Any]


def run_trials(options: TrialOptions, trials: int, output: Path) -> Iterator[Row]:
    """Runs trials one after another and appends one JSON line per trial to a file.

    The worker logs and stderr of failed trials are kept next to the file.

    Yields:
        Each row after it is written.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    check_writable(output)  # Before minutes are spent on trials.
    for trial in range(1, trials + 1):
        folder = output.with_suffix("") / f"trial-{time.strftime('%Y%m%d-%H%M%S')}-{trial}"
        row = {"time": round(time.time(), 3), "trial": trial} | run_trial(options, folder)
        with output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        yield row


def run_trial(options: TrialOptions, folder: Path) -> Row:
    """Runs one trial; `folder` is kept only if it failed."""
    folder.mkdir(parents=True)
    began = time.monotonic()
    with (folder / "errors.txt").open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "warpzone.doctor.trial", options.to_json(folder)],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,  # A process group, so that leftover processes can be killed.
        )
        try:
            seconds, error = _follow(process, options)
        finally:
            leftovers = _end_group(process)
    if error is None and leftovers:
        error = "processes were left running"
    total = time.monotonic() - began
    if error is None:
        shutil.rmtree(folder)
        with suppress(OSError):
            folder.parent.rmdir()
    return {
        **asdict(options),
        "ok": error is None,
        "seconds": seconds,
        "total": round(total, 4),
        "error": error,
        "diagnostics": None if error is None else str(folder),
    }


def _follow(
    process: subprocess.Popen[str], options: TrialOptions
) -> tuple[dict[str, float], str | None]:
    """Reads a trial's output until it ends; returns the duration of its stages and any error."""
    lines: queue.Queue[str | None] = queue.Queue()
    threading.Thread(target=_read, args=(process, lines.put), daemon=True).start()
    limit = options.workers().limit(options.num_envs) + _GRACE_SECONDS
    patience = Patience(limit)
    seconds: dict[str, float] = {}
    error = None
    began = time.monotonic()
    while True:
        waiting_since = time.monotonic()
        try:
            line = lines.get(timeout=patience.slice())
        except queue.Empty:
            patience.spend(time.monotonic() - waiting_since)
            if patience.left > 0:
                continue
            return seconds, f"stage '{_next_stage(seconds)}' took longer than {limit:g} s"
        patience = Patience(limit)
        if line is None:
            break
        row = json.loads(line)
        error = row.get("error", error)
        if "stage" in row:
            elapsed = round(time.monotonic() - began, 4)
            seconds[row["stage"]] = elapsed if row["seconds"] is None else row["seconds"]
    try:
        code = process.wait(limit)
    except subprocess.TimeoutExpired:
        return seconds, f"the process did not exit within {limit:g} s of its last stage"
    if error is None and code != 0:
        error = f"stage '{_next_stage(seconds)}': the process exited with code {code}"
    return seconds, error


def _read(process: subprocess.Popen[str], put: Callable[[str | None], None]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("{"):
            put(line)
    put(None)


def _next_stage(done: dict[str, float]) -> str:
    return next((stage for stage in STAGES if stage not in done), "end")


def _end_group(process: subprocess.Popen[str]) -> bool:
    """Kills a trial's remaining processes; returns whether a finished trial left any."""
    hung = process.poll() is None
    if hasattr(os, "killpg"):
        until = time.monotonic() + _LEAVE_SECONDS
        while not hung and _group_exists(process.pid) and time.monotonic() < until:
            time.sleep(0.02)
        left = _group_exists(process.pid)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        left = False
        process.kill()
    process.wait(_KILL_SECONDS)
    return left and not hung


def _group_exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
