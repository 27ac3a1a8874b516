"""A lock between processes, which ends with the process that holds it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warpzone.errors import LockError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_PAUSE = 0.02


@contextmanager
def file_lock(path: Path, seconds: float) -> Iterator[None]:
    """Holds the lock of a file while the block runs.

    Args:
        path: The lock's own file; it is made and left behind, and holds the number of the process.
        seconds: How long to wait for another process.

    Raises:
        LockError: Another process held it all the time; the text names it.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise LockError(f"{path} cannot be opened ({error.strerror}); check the folder") from error
    try:
        until = time.monotonic() + seconds
        while not _taken(descriptor):
            if time.monotonic() >= until:
                holder = os.pread(descriptor, 20, 0).decode() if sys.platform != "win32" else "?"
                raise LockError(
                    f"{path} was held by another process ({holder or '?'}) for {seconds:g} s; "
                    "end that process, or wait for it"
                )
            time.sleep(_PAUSE)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        yield
    finally:
        os.close(descriptor)  # Also unlocks.


def _taken(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
