"""What must be true of a run after the soak."""

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

MOST_GROWTH = 0.01

# A line of the log for each fault.
FAULT_LINES = {
    "slow steps": r"steps within .* were slow",
    "full disk": r"lines were lost",
    "lane that raises": r"lane 3: injected by the soak test",
    "SIGTERM": r"stopped by SIGTERM",
    "damaged checkpoint": r"skipped a damaged checkpoint",
}


@dataclass(frozen=True)
class Check:
    """One thing that must be true, and what was found."""

    name: str
    passed: bool
    found: str


def check_run(run: Path, damaged: Path, batch: int, sessions: list[str]) -> list[Check]:
    """Looks at everything that a run left behind."""
    rows = read_rows(run / "metrics.jsonl")
    return [
        _steps_once(run, rows, batch),
        _readable(run, damaged),
        _flat_memory(rows),
        _in_the_log(run),
        _no_tracebacks(sessions),
    ]


def _steps_once(run: Path, rows: list[dict[str, Any]], batch: int) -> Check:
    """Rows rise, steps are updates x batch, and the last checkpoint says the same."""
    wrong = [row for row in rows if row["run/steps"] != row["run/updates"] * batch]
    falls = sum(b["run/steps"] <= a["run/steps"] for a, b in itertools.pairwise(rows))
    latest = find_latest(run)
    assert latest is not None
    meta = checkpoint.read_meta(latest)
    counters = checkpoint.load(latest).state["counters"]
    same = meta.steps == counters["steps"] == meta.updates * batch
    found = f"{len(rows)} rows, {len(wrong)} wrong, {falls} falls, {meta.steps:,} steps at the end"
    return Check("steps are counted once", not wrong and not falls and same, found)


def _readable(run: Path, damaged: Path) -> Check:
    """Every line of JSON, every checkpoint, the Parquet file; the damaged one is gone or known."""
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
        bad.append("parts of checkpoints")
    import pyarrow.parquet as pq

    pq.read_table(run / "metrics.parquet")
    return Check("no file is unreadable", not bad, ", ".join(bad) or "all of them can be read")


def _flat_memory(rows: list[dict[str, Any]]) -> Check:
    """Of the last session, after a third of it for warming up."""
    last = max(row["run/session"] for row in rows)
    used = [
        row["resources/memory_bytes"]
        for row in rows
        if row["run/session"] == last and "resources/memory_bytes" in row
    ]
    if len(used) < 30:
        return Check("memory is flat", False, f"only {len(used)} rows in the last session")
    third, sixth = len(used) // 3, max(1, len(used) // 6)
    before, after = median(used[third : third + sixth]), median(used[-sixth:])
    growth = after / before - 1
    found = f"{before / 2**20:.0f} MiB, then {after / 2**20:.0f} MiB: {growth:+.2%}"
    return Check("memory is flat", growth < MOST_GROWTH, found)


def _in_the_log(run: Path) -> Check:
    lines = (run / "log.txt").read_text().splitlines()
    missing = [
        fault
        for fault, pattern in FAULT_LINES.items()
        if not any(re.search(pattern, line) for line in lines)
    ]
    found = f"missing: {', '.join(missing)}" if missing else f"all {len(FAULT_LINES)} of them"
    return Check("every fault is in the log", not missing, found)


def _no_tracebacks(sessions: list[str]) -> Check:
    """Faults that a user can understand are told in a sentence."""
    count = sum(said.count("Traceback") for said in sessions)
    return Check("the terminal shows sentences", count == 0, f"{count} tracebacks")
