"""One trainer per run directory: the operating system's lock, and a file that names its holder.

The operating system's lock (`.lock`) ends with its process and needs no judgement, but some network
and user-space file systems do not have it, or keep it to one machine. So `lock.json` names the
holder as well, and a holder counts as gone only when the lock is free and either its process has
provably ended, or nobody here can see that process and the run's heartbeat is stale.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warpzone.errors import RunError
from warpzone.system.atomic_file import write_text_atomically
from warpzone.system.file_lock import AdvisoryLock, Answer
from warpzone.system.json_file import read_json
from warpzone.system.processes import ProcessId
from warpzone.telemetry.heartbeat import RUNNING, STALLED, last_heartbeat, state_of

_log = logging.getLogger(__name__)

LOCK_FILE = "lock.json"
ADVISORY_FILE = ".lock"


@contextmanager
def run_lock(folder: Path) -> Iterator[None]:
    """Holds a run directory for this process.

    Args:
        folder: The run directory.

    Raises:
        RunError: Another process trains here, whom the text names, or the folder cannot be written.
    """
    own = ProcessId.own()
    try:
        lock = AdvisoryLock(folder / ADVISORY_FILE)
    except OSError as error:
        raise _cannot_lock(folder, error) from error
    try:
        _refuse_if_held(folder, own, lock.try_acquire())
        try:
            write_text_atomically(folder / LOCK_FILE, json.dumps(own.as_row()) + "\n")
        except OSError as error:
            raise _cannot_lock(folder, error) from error
        try:
            yield
        finally:
            _remove_own(folder, own)
    finally:
        lock.close()


def lock_holder(folder: Path) -> ProcessId | None:
    """Returns the process that a lock file names; None when there is none or it is unreadable."""
    try:
        row = read_json(folder / LOCK_FILE)
    except (OSError, ValueError):
        return None
    return ProcessId.from_row(row) if isinstance(row, dict) else None


def _refuse_if_held(folder: Path, own: ProcessId, answer: Answer) -> None:
    holder = lock_holder(folder)
    if answer == "held":
        raise _in_use(folder, own, holder)
    if holder is None:
        return
    # Only the operating system's lock proves that this very process has given it back.
    released = holder == own and answer == "acquired"
    if not released and _is_active(holder, folder):
        raise _in_use(folder, own, holder)
    _log.warning("%s was left locked by %s, which has ended", folder, holder)


def _is_active(holder: ProcessId, folder: Path) -> bool:
    alive = holder.is_alive()
    if alive is None:
        return state_of(last_heartbeat(folder / "heartbeat.jsonl")) in (RUNNING, STALLED)
    return alive


def _in_use(folder: Path, own: ProcessId, holder: ProcessId | None) -> RunError:
    if holder == own:
        return RunError(f"{folder} is in use by this process already")
    who = "another process" if holder is None else str(holder)
    return RunError(f"{folder} is in use by {who}; wait for it, or end it first")


def _cannot_lock(folder: Path, error: OSError) -> RunError:
    reason = error.strerror or error
    return RunError(f"{folder} cannot be locked for training ({reason}); check the folder")


def _remove_own(folder: Path, own: ProcessId) -> None:
    """Removes the lock file, unless another process has taken it over or this is a forked child.

    A failure must not hide why the block ended; what stays behind names a process that has ended.
    """
    if os.getpid() != own.pid or lock_holder(folder) != own:
        return
    try:
        (folder / LOCK_FILE).unlink(missing_ok=True)
    except OSError as error:
        _log.warning("%s cannot be removed: %s", folder / LOCK_FILE, error.strerror)
