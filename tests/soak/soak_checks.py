"""What must hold for a run after the soak test."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from warpzone.errors import CheckpointError
from warpzone.runs import checkpoint
from warpzone.runs.checkpoint_store import find_latest, list_checkpoints
from warpzone.telemetry.reading import read_lines, read_rows, segments

MAX_GROWTH = 0.005
WARM_UP = 300.0  # Seconds of a session after which memory must be constant.

# The log line of each fault.
FAULT_LINES = {
    "slow steps": r"steps within .* were slow",
    "full disk": r"lines were lost",
    "environment that raises": r"env 3: injected by the soak test",
    "SIGTERM": r"stopped by SIGTERM",
    "damaged checkpoint": r"skipped a damaged checkpoint",
}


@dataclass(frozen=True)
class Check:
    """The result of one check."""

    name: str
    passed: bool
    found: str


def check_run(run: Path, damaged: Path, batch: int, sessions: list[str]) -> list[Check]:
    """Checks everything that a run left on disk."""
    rows = read_rows(run / "metrics.jsonl")
    return [
        _steps_once(run, rows, batch),
        _readable(run, damaged),
        _constant_memory(rows),
        _faults_logged(run),
        _no_tracebacks(sessions),
    ]


def _steps_once(run: Path, rows: list[dict[str, Any]], batch: int) -> Check:
    """Steps increase, equal updates x batch, and agree with the last checkpoint."""
    wrong = [row for row in rows if row["run/steps"] != row["run/updates"] * batch]
    decreases = sum(b["run/steps"] <= a["run/steps"] for a, b in itertools.pairwise(rows))
    latest = find_latest(run)
    assert latest is not None
    meta = checkpoint.read_meta(latest)
    counters = checkpoint.load(latest).state["counters"]
    same = meta.steps == counters["steps"] == meta.updates * batch
    found = (
        f"{len(rows)} rows, {len(wrong)} wrong, {decreases} decreases, "
        f"{meta.steps:,} steps at the end"
    )
    return Check("steps are counted once", not wrong and not decreases and same, found)


def _readable(run: Path, damaged: Path) -> Check:
    """All JSON lines, checkpoints and the Parquet file are readable, except the damaged one."""
    bad = []
    for name in ("metrics.jsonl", "episodes.jsonl", "heartbeat.jsonl"):
        lines = sum(
            len(file.read_bytes().splitlines())
            for file in segments(run / name)
            if file.suffix != ".gz"
        )
        parsed = len(list(read_lines(run / name)))
        if parsed < lines:
            bad.append(f"{name}: {lines - parsed} lines")
    for path in list_checkpoints(run):
        try:
            checkpoint.load(path)
        except CheckpointError:
            if path != damaged:
                bad.append(path.name)
    for path in (run / "checkpoints").glob("*.json"):
        json.loads(path.read_text())
    if list((run / "checkpoints").glob(".*.tmp")):
        bad.append("partial checkpoints")
    import pyarrow.parquet as pq

    pq.read_table(run / "metrics.parquet")
    return Check("all files are readable", not bad, ", ".join(bad) or "none are damaged")


def _constant_memory(rows: list[dict[str, Any]]) -> Check:
    """Memory does not grow after the first minutes of the last session, or its first third."""
    last = max(row["run/session"] for row in rows)
    session = [
        row for row in rows if row["run/session"] == last and "resources/memory_bytes" in row
    ]
    if len(session) < 30:
        return Check("memory is constant", False, f"only {len(session)} rows in the last session")
    began, ended = session[0]["run/time"], session[-1]["run/time"]
    warm = began + min(WARM_UP, (ended - began) / 3)
    used = [row["resources/memory_bytes"] for row in session if row["run/time"] >= warm]
    fifth = max(1, len(used) // 5)
    before, after = median(used[:fifth]), median(used[-fifth:])
    growth = after / before - 1
    found = (
        f"{before / 2**20:.1f} MiB, then {after / 2**20:.1f} MiB after "
        f"{(ended - warm) / 60:.0f} minutes: {growth:+.2%}"
    )
    return Check("memory is constant", growth < MAX_GROWTH, found)


def _faults_logged(run: Path) -> Check:
    lines = (run / "log.txt").read_text().splitlines()
    missing = [
        fault
        for fault, pattern in FAULT_LINES.items()
        if not any(re.search(pattern, line) for line in lines)
    ]
    found = f"missing: {', '.join(missing)}" if missing else f"all {len(FAULT_LINES)} found"
    return Check("every fault is in the log", not missing, found)


def _no_tracebacks(sessions: list[str]) -> Check:
    """Expected faults are reported in a sentence, without a traceback."""
    count = sum(output.count("Traceback") for output in sessions)
    return Check("no tracebacks on the terminal", count == 0, f"{count} tracebacks")
