"""The checkpoints of a run: the last few, the newest intact one, and the best.

`latest.json` and `best.json` are small files that name a checkpoint. Unlike links, they survive a
copy to any machine, and they are replaced atomically. Nothing depends on `latest.json`: the newest
intact checkpoint is found by looking, since a process may be killed between checkpoint and pointer.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from warpzone.errors import CheckpointError
from warpzone.runs import checkpoint
from warpzone.runs.checkpoint import SUFFIX, CheckpointMeta
from warpzone.system.atomic_file import remove_abandoned, write_text_atomically
from warpzone.system.json_file import entry, read_json
from warpzone.system.os_errors import describe_os_error

_log = logging.getLogger(__name__)

LATEST, BEST = "latest", "best"
_FAILED = "failed-"
_OWN_NAME = re.compile(r"update-\d{8,}")


class CheckpointStore:
    """Writes a run's checkpoints and removes old ones."""

    def __init__(self, folder: Path, keep: int = 3) -> None:
        """Reads what is there and writes nothing yet.

        Args:
            folder: Such as `checkpoints`.
            keep: How many of the last ones are kept, besides the best.
        """
        if keep < 1:
            raise CheckpointError(f"keep must be at least 1, not {keep}")
        self._folder = folder
        self._keep = keep
        self._serial = max((serial for serial, _ in _by_age(folder)), default=0)

    def save(self, state: Mapping[str, Any], meta: CheckpointMeta, best: bool = False) -> Path:
        """Writes a checkpoint named after its update, and moves the pointers.

        Args:
            state: A tree of plain data and tensors.
            meta: Its description; the serial number is filled in.
            best: Whether it is the best so far.

        Returns:
            Its path.

        Raises:
            CheckpointError: It cannot be written; earlier ones are untouched.
        """
        if self._folder.is_dir():
            remove_abandoned(self._folder)
        meta = replace(meta, serial=self._serial + 1)
        path = checkpoint.save(self._folder, f"update-{meta.updates:08d}", state, meta)
        self._serial = meta.serial
        try:
            _point(self._folder, LATEST, path)
            if best:
                _point(self._folder, BEST, path)
            self._prune()
        except OSError as error:
            raise CheckpointError(
                f"{path} is written, but its folder could not be updated: "
                f"{describe_os_error(error)}"
            ) from error
        return path

    def save_failed(self, state: Mapping[str, Any], meta: CheckpointMeta) -> Path:
        """Writes the state in which a run failed, for inspection; no run resumes from it by itself.

        Raises:
            CheckpointError: It cannot be written.
        """
        return checkpoint.save(self._folder, f"{_FAILED}{meta.updates:08d}", state, meta)

    def best_clear_rate(self) -> float:
        """Clear rate of the checkpoint that is marked as the best; 0 without one."""
        path = read_pointer(self._folder, BEST)
        try:
            extra = {} if path is None else checkpoint.read_meta(path).extra
        except CheckpointError:
            return 0.0  # `find_best` warns about it when it is needed.
        return float(extra.get("clear_rate", 0.0))

    def _prune(self) -> None:
        best = read_pointer(self._folder, BEST)
        # Unreadable ones stay, and do not count. Nor do files that no run names so: copies that
        # somebody keeps here are theirs.
        known = [
            path
            for serial, path in _by_age(self._folder)
            if serial >= 0 and _OWN_NAME.fullmatch(path.stem)
        ]
        for path in known[self._keep :]:
            if best is None or path.name != best.name:
                path.unlink(missing_ok=True)
        for sidecar in self._folder.glob("update-*.json"):
            if _OWN_NAME.fullmatch(sidecar.stem) and not sidecar.with_suffix(SUFFIX).exists():
                sidecar.unlink(missing_ok=True)


def find_latest(run: Path) -> Path | None:
    """Finds the newest intact checkpoint.

    Args:
        run: A run directory or its folder of checkpoints.

    Returns:
        Its path, or None when there is no checkpoint at all.

    Raises:
        CheckpointError: There are checkpoints, and all are damaged.
    """
    folder = _folder_of(run)
    damaged = []
    for _, path in _by_age(folder):
        try:
            checkpoint.verify(path)
        except CheckpointError as error:
            _log.warning("skipped a damaged checkpoint: %s", error)
            damaged.append(path.name)
        else:
            return path
    if damaged:
        raise CheckpointError(f"no checkpoint in {folder} is intact: {', '.join(damaged)}")
    return None


def find_best(run: Path) -> Path | None:
    """Finds the best checkpoint; None when none is marked, and a warning when it is damaged."""
    path = read_pointer(_folder_of(run), BEST)
    if path is None:
        return None
    try:
        checkpoint.verify(path)
    except CheckpointError as error:
        _log.warning("the best checkpoint cannot be used: %s", error)
        return None
    return path


def list_checkpoints(run: Path) -> list[Path]:
    """Returns all checkpoints of a run, newest first, intact or not."""
    return [path for _, path in _by_age(_folder_of(run))]


def read_pointer(folder: Path, name: str) -> Path | None:
    """Returns the checkpoint that `latest` or `best` names, if it exists."""
    try:
        target = entry(read_json(folder / f"{name}.json"), "file", str)
        # Only a plain name: a pointer from elsewhere must not lead out of the folder.
        path = folder / Path(target).name
        return path if path.is_file() else None
    except (OSError, ValueError):
        return None


def _point(folder: Path, name: str, path: Path) -> None:
    write_text_atomically(folder / f"{name}.json", json.dumps({"file": path.name}) + "\n")


def _folder_of(run: Path) -> Path:
    inside = run / "checkpoints"
    return inside if inside.is_dir() else run


def _by_age(folder: Path) -> list[tuple[int, Path]]:
    """All checkpoints with their serial numbers, newest first.

    The order is that of writing, not of updates: a run that resumed from an earlier checkpoint has
    its newest work in lower updates. Unreadable ones come first, with -1, so that a search for the
    newest names them.
    """
    if not folder.is_dir():
        return []
    found = []
    for path in folder.glob(f"*{SUFFIX}"):
        if path.name.startswith((".", _FAILED)):
            continue
        try:
            found.append((checkpoint.read_meta(path).serial, path))
        except CheckpointError:
            found.append((-1, path))
    return sorted(found, key=lambda item: (item[0] >= 0, -item[0], item[1].name))
