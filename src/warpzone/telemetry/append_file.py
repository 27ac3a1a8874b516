"""Append-only file of whole records."""

from __future__ import annotations

import os
from pathlib import Path


class AppendFile:
    """Appends records atomically: each is in the file entirely or not at all.

    Nothing is buffered: an appended record survives the end of the process. A file that was removed
    or replaced is reopened at the next record. A deleted folder is not recreated; that is up to the
    folder's owner.
    """

    def __init__(self, path: Path) -> None:
        """Creates the object; the file is opened by `open` or the first record.

        Args:
            path: File to append to; it need not exist.
        """
        self.path = path
        self.size = 0
        """Size of the file in bytes, once it is open."""
        self._descriptor: int | None = None

    def open(self) -> bool:
        """Ensures that the file is open under its name; True if it had to be opened.

        Raises:
            OSError: The file cannot be opened, for example because its folder does not exist.
        """
        if self._descriptor is not None and not self._is_current(self._descriptor):
            self.close()
        if self._descriptor is not None:
            return False
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._descriptor = os.open(self.path, flags, 0o644)
        self.size = os.fstat(self._descriptor).st_size
        return True

    def append(self, record: bytes) -> None:
        """Appends a record.

        Raises:
            OSError: The record cannot be written; the file is unchanged.
        """
        self.open()
        assert self._descriptor is not None
        written = 0
        try:
            while written < len(record):
                # A disk that fills up accepts a part; the next write raises the actual error.
                written += os.write(self._descriptor, record[written:])
        except OSError:
            if written:
                os.ftruncate(self._descriptor, self.size)
            raise
        self.size += written

    def close(self) -> None:
        """Closes the file; the next record opens it again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _is_current(self, descriptor: int) -> bool:
        """Whether the open file is still the file at `path`."""
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        except FileNotFoundError:
            return False
