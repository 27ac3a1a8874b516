"""What the page of a run shows besides charts: episodes, log, hints, configuration, files."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from warpzone.errors import RunError
from warpzone.runs.directory import RunDirectory
from warpzone.telemetry.reading import finite

_EPISODE_BYTES = 1024 * 1024
_LOG_BYTES = 64 * 1024
_MOST_EPISODES = 2000
_SHOWN_EPISODES = 50
_HINT_MARKS = ("[hint]", "] warning:", "] error:")
VIDEO_SUFFIXES = (".mp4", ".gif")


def tail_lines(path: Path, size: int) -> list[bytes]:
    """The last whole lines of a file, within a number of bytes; none if there is no file."""
    try:
        with path.open("rb") as file:
            begin = max(0, file.seek(0, os.SEEK_END) - size)
            file.seek(begin)
            lines = file.read(size).splitlines()
    except OSError:
        return []
    return lines[1:] if begin > 0 else lines


def episodes(run: RunDirectory) -> dict[str, Any]:
    """The last episodes, how they ended, and where they were lost."""
    rows = recent_episodes(run.episodes)
    ends = Counter(str(row.get("end")) for row in rows)
    lost = [
        {"progress": progress, "end": str(row.get("end")), "level": str(row.get("level"))}
        for row in rows
        if (progress := finite(row, "progress")) is not None and row.get("end") != "clear"
    ]
    shown = [_shown(row) for row in reversed(rows[-_SHOWN_EPISODES:])]
    return {"count": len(rows), "ends": dict(ends.most_common()), "lost": lost, "last": shown}


def recent_episodes(path: Path) -> list[dict[str, Any]]:
    """The last episodes of a file, oldest first; damaged lines are left out."""
    rows = []
    for line in tail_lines(path, _EPISODE_BYTES)[-_MOST_EPISODES:]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue  # Damaged, or being written at this moment.
        if isinstance(row, dict):
            rows.append(row)
    return rows


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    numbers = ("time", "steps", "env", "reward", "length", "progress", "score", "coins")
    return {name: finite(row, name) for name in numbers} | {
        name: str(row.get(name)) for name in ("level", "end", "start")
    }


def log(run: RunDirectory) -> dict[str, Any]:
    """The end of the log, and the hints and warnings in it."""
    lines = [line.decode(errors="replace") for line in tail_lines(run.log, _LOG_BYTES)]
    hints = [line for line in lines if any(mark in line for mark in _HINT_MARKS)]
    return {"lines": lines[-400:], "hints": hints[-30:]}


def config_text(run: RunDirectory) -> str:
    """The configuration, or a sentence about why it cannot be read."""
    try:
        return run.read_config()
    except RunError as error:
        return f"# {error}"


def files(run: RunDirectory) -> dict[str, Any]:
    """Checkpoints with what their side-cars say, and videos; newest first."""
    return {
        "checkpoints": [_checkpoint(path) for path in _newest_first(run.checkpoints, (".pt",))],
        "videos": [
            {"name": path.name, "size": _size(path)}
            for path in _newest_first(run.videos, VIDEO_SUFFIXES)
        ],
    }


def find_video(run: RunDirectory, name: str) -> Path:
    """The video of a name. Only names of the run's own list are accepted.

    Raises:
        RunError: There is no such video.
    """
    for path in _newest_first(run.videos, VIDEO_SUFFIXES):
        if path.name == name:
            return path
    raise RunError(f"the run has no video named '{name}'")


def _newest_first(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Regular files, no links: a link could lead out of the folder."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                shown = entry.name.endswith(suffixes) and not entry.name.startswith(".")
                if shown and entry.is_file(follow_symlinks=False):
                    found.append((entry.stat().st_mtime, Path(entry.path)))
    except OSError:
        return []
    return [path for _, path in sorted(found, reverse=True)]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _checkpoint(path: Path) -> dict[str, Any]:
    try:
        meta = json.loads(path.with_suffix(".json").read_bytes())
    except (OSError, ValueError, RecursionError):
        meta = None
    row = meta if isinstance(meta, dict) else {}
    extra = row.get("extra")
    return {
        "name": path.name,
        "size": _size(path),
        "steps": finite(row, "steps"),
        "clear_rate": finite(extra if isinstance(extra, dict) else {}, "clear_rate"),
    }
