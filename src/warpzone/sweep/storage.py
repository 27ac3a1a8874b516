"""Optuna's storage of a sweep: a journal file that several processes append to.

Optuna's own lock is a symbolic link, which a killed process leaves behind. Processes of a sweep
therefore take a lock of the operating system first, which ends with its holder. They also remove an
incomplete last line before they append: Optuna could not read the journal any more after it.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from warpzone.errors import SweepError
from warpzone.sweep.files import SweepFolder
from warpzone.system.extras import require_extra
from warpzone.system.file_lock import AdvisoryLock

if TYPE_CHECKING:
    from optuna.storages import JournalStorage

_STALE_SECONDS = 10  # Only a killed process or another program holds Optuna's lock for so long.
_WAIT_SECONDS = 0.005
_MAX_BLOCK = 1 << 16
_MAX_BYTES = 4 << 30  # A hundred thousand trials need a tenth of it.


def require_optuna() -> None:
    """Checks that Optuna and SciPy are installed, and silences Optuna's log.

    Raises:
        MissingExtraError: One of them is missing.
    """
    require_extra("sweep")
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)


def open_storage(folder: SweepFolder) -> JournalStorage:
    """Opens the journal of a sweep, which is created if missing.

    Raises:
        SweepError: The journal is damaged, or cannot be read.
    """
    require_optuna()
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock

    class JournalLock(JournalFileSymlinkLock):
        """Optuna's lock inside a lock of the operating system."""

        def __init__(self, path: Path) -> None:
            super().__init__(str(path), _STALE_SECONDS)
            self._journal = path
            self._held: AdvisoryLock | None = None

        def acquire(self) -> bool:
            self._held = AdvisoryLock(self._journal.with_suffix(".flock"))
            # A file system without such locks still has Optuna's own.
            while self._held.try_acquire() == "held":
                time.sleep(_WAIT_SECONDS)
            super().acquire()
            drop_incomplete_line(self._journal)
            return True

        def release(self) -> None:
            super().release()
            if self._held is not None:
                self._held.close()

    if folder.journal.exists() and not folder.journal.is_file():
        raise SweepError(f"{folder.journal} is not a regular file; move it away")
    if folder.journal.exists() and folder.journal.stat().st_size > _MAX_BYTES:
        raise SweepError(
            f"{folder.journal} has more than {_MAX_BYTES:,} bytes, so it is not the journal of a "
            "sweep; restore it from a backup"
        )
    try:
        return JournalStorage(JournalFileBackend(str(folder.journal), JournalLock(folder.journal)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SweepError(
            f"{folder.journal} is damaged ({type(error).__name__}: {error}); restore it from a "
            "backup, or start another sweep"
        ) from error


def drop_incomplete_line(path: Path) -> None:
    """Removes what follows the last line end of a file: the rest of a write that was cut short."""
    with path.open("rb+") as file:
        end = file.seek(0, os.SEEK_END)
        keep = end
        while keep > 0:
            start = max(0, keep - _MAX_BLOCK)
            file.seek(start)
            newline = file.read(keep - start).rfind(b"\n")
            if newline >= 0:
                keep = start + newline + 1
                break
            keep = start
        if keep < end:
            file.truncate(keep)
