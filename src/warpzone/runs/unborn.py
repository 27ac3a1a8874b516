"""Folders of runs that were killed before their first checkpoint, and nothing else, are removed."""

from __future__ import annotations

import re
from pathlib import Path

from warpzone.config import from_toml
from warpzone.errors import ConfigError, RunError
from warpzone.runs.directory import CONFIG_FILE, RunDirectory
from warpzone.runs.lock import ADVISORY_FILE, LOCK_FILE, run_lock
from warpzone.system.atomic_file import is_temporary

_LISTED_NAMES = 5
_FOLDERS = ("checkpoints", "videos", "events", "stalls", "workers")
# What a run writes, by path within its folder. Checkpoints are not among it: a run that has one is
# not unborn, and the state of a failed run is kept to be looked at.
_OWN_FILES = re.compile(
    r"config\.toml|log\.txt|metrics\.parquet"
    r"|(metrics|episodes|heartbeat)(-\d{4,})?\.jsonl(\.gz)?"
    r"|events/events\.out\.tfevents\.[^/]+"
    r"|stalls/[^/]+\.txt"
    r"|workers/worker-\d+\.(jsonl|stacks\.txt)"
    r"|checkpoints/(update-\d{8,}|latest|best)\.json"
)


def discard_unborn(run: Path) -> None:
    """Removes the folder of a run that was killed before its first checkpoint.

    Nothing in it can be resumed, and its name is needed. Only files that such a run writes are ever
    removed.

    Raises:
        RunError: Something else is in the folder, which the text names, or somebody trains there.
    """
    if not run.exists() and not run.is_symlink():
        return
    if not _is_folder(run):
        raise RunError(f"{run} exists, but is not the folder of a run; move it elsewhere")
    _refuse_foreign(run, _entries(run))  # Before the lock, which writes files of its own.
    try:
        with run_lock(run):
            entries = _entries(run)
            _refuse_foreign(run, entries)
            for path in entries:
                path.unlink()
        (run / ADVISORY_FILE).unlink(missing_ok=True)
        for name in _FOLDERS:
            if (run / name).is_dir():
                (run / name).rmdir()
        run.rmdir()
    except OSError as error:
        raise RunError(f"{run} cannot be removed ({error.strerror}); remove it by hand") from error


def _entries(run: Path) -> list[Path]:
    """Everything in the folder but the run's own folders and the lock's files."""
    return [
        path
        for path in sorted(run.rglob("*"))
        if path.relative_to(run).as_posix() not in (ADVISORY_FILE, LOCK_FILE)
        and not (path.relative_to(run).as_posix() in _FOLDERS and _is_folder(path))
    ]


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _refuse_foreign(run: Path, entries: list[Path]) -> None:
    # The configuration is written first: without it, the run has written nothing else.
    known = _is_config(run / CONFIG_FILE)
    foreign = [
        path.relative_to(run).as_posix()
        for path in entries
        if path.is_symlink()
        or not path.is_file()
        or not (
            is_temporary(path.name)
            or (known and _OWN_FILES.fullmatch(path.relative_to(run).as_posix()))
        )
    ]
    if foreign:
        names = ", ".join(foreign[:_LISTED_NAMES])
        more = f" and {len(foreign) - _LISTED_NAMES} more" if len(foreign) > _LISTED_NAMES else ""
        raise RunError(
            f"{run} has no checkpoint to resume from, but holds {names}{more}; nothing was "
            "removed: move the folder away, or remove it, and repeat the command"
        )


def _is_config(path: Path) -> bool:
    try:
        from_toml(RunDirectory(path.parent).read_config(), str(path))
    except (ConfigError, RunError):
        return False
    return True
