"""The lock of a campaign's files, which several processes may change."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from warpzone.system.file_lock import file_lock

LOCK_FILE = ".update.lock"
# Drawing the scoreboard takes a second at most, and each process waits for all others.
_SECONDS = 300.0


def update_lock(folder: Path) -> AbstractContextManager[None]:
    """Holds the right to change `campaign.json` or the scoreboard of a folder.

    Raises:
        LockError: Another process held it all the time, or the folder cannot be written.
    """
    return file_lock(folder / LOCK_FILE, _SECONDS)
