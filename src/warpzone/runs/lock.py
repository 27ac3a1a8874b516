"""One trainer a run directory: a lock file that names its process."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warpzone.errors import RunError
from warpzone.system.atomic_file import write_text_atomically
from warpzone.system.processes import ProcessId
from warpzone.telemetry.heartbeat import last_heartbeat, state_of

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_log = logging.getLogger(__name__)

LOCK_FILE = "lock.json"


@contextmanager
def run_lock(folder: Path) -> Iterator[None]:
    """Holds a run directory for this process.

    The lock of a process that is gone is taken over. A process on another machine cannot be asked;
    it counts as alive while the run's heartbeat is fresh.

    Args:
        folder: The run directory.

    Raises:
        RunError: Another process trains here; the text names it.
    """
    path = folder / LOCK_FILE
    own = ProcessId.own()
    with _one_at_a_time(folder):
        holder = lock_holder(folder)
        if holder is not None and holder != own and _is_active(holder, folder):
            raise RunError(f"{folder} is in use by {holder}")
        if holder == own:
            raise RunError(f"{folder} is in use by this process already")
        if holder is not None:
            _log.warning("%s was left locked by %s, which is gone", folder, holder)
        write_text_atomically(path, json.dumps(own.as_row()) + "\n")
    try:
        yield
    finally:
        # Not after somebody else has taken it over.
        if lock_holder(folder) == own and os.getpid() == own.pid:
            path.unlink(missing_ok=True)


def lock_holder(folder: Path) -> ProcessId | None:
    """Returns the process that a lock file names; None when there is none or it is unreadable."""
    try:
        row = json.loads((folder / LOCK_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return ProcessId.from_row(row) if isinstance(row, dict) else None


def _is_active(holder: ProcessId, folder: Path) -> bool:
    alive = holder.is_alive()
    if alive is None:
        return state_of(last_heartbeat(folder / "heartbeat.jsonl")) == "running"
    return alive


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Keeps two processes from looking at the lock and taking it at the same moment.

    The system's own lock is not held for longer than that: forked workers inherit it, and one that
    outlives the trainer would hold the run for ever.
    """
    descriptor = os.open(folder / ".lock.guard", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)  # also unlocks
