"""A lock between processes, which ends with the process that holds it."""

from __future__ import annotations

import errno
import os
import sys
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from warpzone.errors import LockError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_PAUSE_SECONDS = 0.02
_HELD_BY_ANOTHER = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK}

Answer = Literal["acquired", "held", "unsupported"]
"""Whether a lock was acquired, is held by another process, or does not exist on a file system."""


class AdvisoryLock:
    """The operating system's lock of a file.

    It ends with the process, however that ends, and conflicts with every other `AdvisoryLock` of
    the same file, within the process too. Processes that are started later do not inherit it: the
    descriptor closes on exec, and a forked child closes its copy at once.
    """

    def __init__(self, path: Path) -> None:
        """Opens the lock's file, which is created if missing, and locks nothing yet.

        Raises:
            OSError: The file cannot be opened.
        """
        self._descriptor: int | None = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        _open_locks.add(self)

    def try_acquire(self) -> Answer:
        """Asks for the lock without waiting."""
        assert self._descriptor is not None, "the lock is closed"
        try:
            if sys.platform == "win32":
                msvcrt.locking(self._descriptor, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return "held" if error.errno in _HELD_BY_ANOTHER else "unsupported"
        return "acquired"

    def close(self) -> None:
        """Releases the lock, if it is held; the file stays, since removing it would be a race."""
        if self._descriptor is None:
            return
        if sys.platform != "win32":
            # Not by closing alone: a child that was just forked may not have closed its copy yet.
            with suppress(OSError):
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        self.close_copy()

    def close_copy(self) -> None:
        """Closes the descriptor of a forked child; its parent keeps the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @property
    def holder(self) -> str:
        """What the holder wrote into the file; empty where it cannot be read."""
        if self._descriptor is None or sys.platform == "win32":
            return ""
        return os.pread(self._descriptor, 20, 0).decode(errors="replace")

    def write_holder(self) -> None:
        """Writes this process's number into the file, for messages."""
        assert self._descriptor is not None, "the lock is closed"
        os.ftruncate(self._descriptor, 0)
        os.write(self._descriptor, str(os.getpid()).encode())


_open_locks: weakref.WeakSet[AdvisoryLock] = weakref.WeakSet()


def _close_in_child() -> None:
    # The lock belongs to all copies of the descriptor: a worker that outlives its parent would
    # hold it on.
    for lock in list(_open_locks):
        lock.close_copy()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)


@contextmanager
def file_lock(path: Path, seconds: float) -> Iterator[None]:
    """Holds the lock of a file while the block runs.

    Args:
        path: The lock's own file; it is created if missing, stays, and holds the process's number.
        seconds: How long to wait for another process.

    Raises:
        LockError: Another process held it all the time, or the file cannot be opened.
    """
    try:
        lock = AdvisoryLock(path)
    except OSError as error:
        raise LockError(f"{path} cannot be opened ({error.strerror}); check the folder") from error
    try:
        until = time.monotonic() + seconds
        while (answer := lock.try_acquire()) != "acquired":
            if answer == "unsupported":
                raise LockError(f"the file system of {path} has no locks; use another folder")
            if time.monotonic() >= until:
                raise LockError(
                    f"{path} was held by another process ({lock.holder or '?'}) for {seconds:g} s; "
                    "end that process, or wait for it"
                )
            time.sleep(_PAUSE_SECONDS)
        lock.write_holder()
        yield
    finally:
        lock.close_copy()
