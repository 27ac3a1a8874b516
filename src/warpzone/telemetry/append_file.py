"""A file that only grows, by whole records."""

from __future__ import annotations

import os
from pathlib import Path


class AppendFile:
    """Appends records so that each is in the file entirely or not at all.

    Nothing is buffered: an appended record survives the end of the process. A file that was removed
    or replaced is opened again under its name at the next record. Its folder is not: whoever owns
    the folder decides whether a deleted one comes back.
    """

    def __init__(self, path: Path) -> None:
        """Opens nothing yet.

        Args:
            path: The file; an existing one is continued at its end.
        """
        self.path = path
        self.size = 0
        """Bytes in the file, once it is open."""
        self._descriptor: int | None = None

    def open(self) -> bool:
        """Makes sure that the file is open under its name; True when it had to be opened.

        Raises:
            OSError: The system refused, or the folder does not exist.
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
        """Writes a record.

        Raises:
            OSError: The system refused; the file is as it was before.
        """
        self.open()
        assert self._descriptor is not None
        written = 0
        try:
            while written < len(record):
                # A disk that fills up takes a part; asking again gets the error with its reason.
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
        """Whether the open file is still the one under its name."""
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        except FileNotFoundError:
            return False
