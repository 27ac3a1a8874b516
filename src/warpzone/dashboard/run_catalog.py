"""The list of runs: found below a folder, summarized when one of their files has changed."""

from __future__ import annotations

import os
import re
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpzone.dashboard.sparkline import sparkline
from warpzone.errors import RunError
from warpzone.runs.directory import CONFIG_FILE, RunDirectory
from warpzone.runs.listing import RunSummary, find_runs, summarize_run
from warpzone.telemetry.heartbeat import state_of

_SEARCH_SECONDS = 5.0
_SECONDS_PER_REQUEST = 0.3
_SECONDS_PER_WARM_UP = 0.05
_ACTIVE = ("running", "stalled", "paused")

_Signature = tuple[tuple[int, int], ...]


@dataclass
class _Known:
    """What is known about a run, and the state of the files that it was read from."""

    signature: _Signature
    summary: RunSummary
    total_steps: float | None
    line: list[float] | None = None


class RunCatalog:
    """Finds runs and keeps their summaries; safe to use from several threads."""

    def __init__(self, folder: Path, search_seconds: float = _SEARCH_SECONDS) -> None:
        """Finds nothing yet.

        Args:
            folder: Runs are looked for below it.
            search_seconds: Age at which the list of folders is made anew.
        """
        self.folder = folder
        self._search_seconds = search_seconds
        self._paths: dict[str, Path] = {}
        self._known: dict[str, _Known] = {}
        self._outdated_lines: set[str] = set()
        self._searched = float("-inf")
        self._lock = threading.Lock()

    def find(self, run_id: str) -> RunDirectory:
        """The run of an identifier. Only what the search has found can be named.

        Raises:
            RunError: There is no such run, or it was deleted.
        """
        with self._lock:
            if run_id not in self._paths:
                self._search(force=True)
            path = self._paths.get(run_id)
        if path is None:
            raise RunError(f"'{run_id}' is not a run below {self.folder}")
        try:
            return RunDirectory.open(path)
        except RunError as error:
            raise RunError(f"run '{run_id}' was deleted") from error

    def rows(self, seconds: float = _SECONDS_PER_REQUEST) -> tuple[list[dict[str, Any]], int]:
        """All runs as plain data, and how many of them are still to be summarized.

        Summaries take time where there are thousands of runs: the rest follows with later calls.

        Args:
            seconds: Time after which the remaining summaries are left to the next call.
        """
        with self._lock:
            self._search()
            deadline = time.monotonic() + seconds
            missing = 0
            for run_id, path in self._paths.items():
                if time.monotonic() < deadline or not self._known:
                    self._refresh(run_id, path)
                elif run_id not in self._known:
                    missing += 1
            while self._outdated_lines and not missing and time.monotonic() < deadline:
                self._draw_line(self._outdated_lines.pop())
            return [_row(run_id, known) for run_id, known in self._known.items()], missing

    def group_kinds(self) -> dict[str, str]:
        """What the folders of grouped runs are: 'campaign', 'sweep', or 'folder'."""
        with self._lock:
            names = {_group(run_id) for run_id in self._known} - {""}
        return {name: _kind(self.folder / name) for name in sorted(names)}

    def _draw_line(self, run_id: str) -> None:
        known, path = self._known.get(run_id), self._paths.get(run_id)
        if known is not None and path is not None:
            known.line = sparkline(RunDirectory(path).metrics, "rollout/clear_rate")

    def warm_up(self) -> None:
        """Summarizes all runs in the background, so that the first visitor need not wait."""

        def work() -> None:
            # In small steps, since a visitor waits for the lock.
            while self.rows(_SECONDS_PER_WARM_UP)[1]:
                pass

        threading.Thread(target=work, name="catalog", daemon=True).start()

    def row(self, run_id: str) -> dict[str, Any]:
        """One run as plain data.

        Raises:
            RunError: There is no such run.
        """
        run = self.find(run_id)
        with self._lock:
            self._refresh(run_id, run.path)
            if run_id not in self._known:
                raise RunError(f"run '{run_id}' was deleted")
            return _row(run_id, self._known[run_id])

    def _search(self, force: bool = False) -> None:
        now = time.monotonic()
        if not force and now - self._searched < self._search_seconds:
            return
        self._searched = now
        self._paths = {_identifier(self.folder, path): path for path in find_runs(self.folder)}
        for gone in self._known.keys() - self._paths.keys():
            del self._known[gone]

    def _refresh(self, run_id: str, path: Path) -> None:
        signature = _signature(path)
        known = self._known.get(run_id)
        if signature is None:
            self._known.pop(run_id, None)
        elif known is None or known.signature != signature:
            total = _total_steps(path / CONFIG_FILE)
            line = None if known is None else known.line
            self._known[run_id] = _Known(signature, summarize_run(path), total, line)
            self._outdated_lines.add(run_id)


def _identifier(folder: Path, path: Path) -> str:
    relative = path.relative_to(folder).as_posix()
    return path.resolve().name if relative == "." else relative


def _kind(folder: Path) -> str:
    for kind in ("campaign", "sweep"):
        if (folder / f"{kind}.json").is_file():
            return kind
    return "folder"


def _signature(path: Path) -> _Signature | None:
    """Sizes and times of the files that a summary is made from; None for a deleted run."""
    found = []
    for name in ("config.toml", "metrics.jsonl", "heartbeat.jsonl"):
        try:
            status = os.stat(f"{path}/{name}")  # noqa: PTH116 - `Path.stat` takes twice as long
        except OSError:
            if name == "config.toml":
                return None
            found.append((0, 0))
        else:
            found.append((status.st_size, status.st_mtime_ns))
    return tuple(found)


def _total_steps(config: Path) -> float | None:
    """The option `run.steps`, read without parsing the whole file, which takes milliseconds."""
    try:
        text = config.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = re.search(r"^steps = ([\d_]{1,30})$", text.partition("\n[run]\n")[2], re.MULTILINE)
    return None if found is None else float(found[1])


def _group(run_id: str) -> str:
    """The folder that a run is listed under; a sweep or campaign may keep its runs in `runs/`."""
    folder = run_id.rpartition("/")[0]
    return folder.removesuffix("/runs")


def _row(run_id: str, known: _Known) -> dict[str, Any]:
    summary = known.summary
    state = state_of(summary.heartbeat)  # A process may have ended since.
    left = None
    if state in _ACTIVE and summary.steps_per_second and known.total_steps:
        left = max(0.0, known.total_steps - summary.steps) / summary.steps_per_second
    return {
        "id": run_id,
        "group": _group(run_id),
        "name": run_id.rpartition("/")[2],
        "level": summary.level,
        "steps": summary.steps,
        "total_steps": known.total_steps,
        "updates": summary.updates,
        "clear_rate": summary.clear_rate,
        "elapsed": summary.elapsed,
        "state": state,
        "changed": summary.changed,
        "steps_per_second": summary.steps_per_second,
        "seconds_left": left,
        "sparkline": known.line or [],
        "damages": [damage.replace(f"{summary.path}{os.sep}", "") for damage in summary.damages],
    }
