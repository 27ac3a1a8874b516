"""log.txt: what Python's logging says, with a prefix for the part that says it."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warpzone.telemetry.append_file import AppendFile

# By the part of the package that a logger is named after; everything else is training.
_PREFIXES = {
    "warpzone.envs": "env",
    "warpzone.replay": "replay",
    "warpzone.train.guidance.hints": "hint",
    "warpzone.bench.env": "bench",
    "warpzone.runs.backfill": "migrate",
}


def prefix_of(logger: str) -> str:
    """Returns the prefix for a logger's name, such as 'env'."""
    for name, prefix in _PREFIXES.items():
        if logger == name or logger.startswith((name + ".", name + "_")):
            return prefix
    return "train"


class PrefixFormatter(logging.Formatter):
    """Formats as `2026-11-15T23:40:25Z [train] warning: text`; the time can be left out."""

    def __init__(self, with_time: bool = True) -> None:
        """Makes one.

        Args:
            with_time: Whether lines begin with the time, in UTC.
        """
        super().__init__("%(message)s")
        self._with_time = with_time

    def format(self, record: logging.LogRecord) -> str:
        """Puts time, prefix and, from warnings on, the level in front."""
        text = super().format(record)
        level = f"{record.levelname.lower()}: " if record.levelno >= logging.WARNING else ""
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ ", time.gmtime(record.created))
        return f"{moment if self._with_time else ''}[{prefix_of(record.name)}] {level}{text}"


class LogFileHandler(logging.Handler):
    """Appends to a file; survives a vanished directory and a full disk."""

    def __init__(self, path: Path) -> None:
        """Opens nothing yet.

        Args:
            path: Such as `log.txt`.
        """
        super().__init__()
        self.setFormatter(PrefixFormatter())
        self._file = AppendFile(path)
        self._dropped = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Writes one record; what cannot be written is counted and told later."""
        text = self.format(record) + "\n"
        try:
            if self._dropped:
                self._file.append(f"({self._dropped} lines were lost here)\n".encode())
                self._dropped = 0
            self._file.append(text.encode(errors="backslashreplace"))
        except OSError as error:
            if not self._dropped:
                print(f"{self._file.path} cannot be written: {error}", file=sys.stderr)
            self._dropped += 1

    def close(self) -> None:
        """Closes the file."""
        self._file.close()
        super().close()


@contextmanager
def log_to(handler: logging.Handler, level: int = logging.INFO) -> Iterator[None]:
    """Sends everything that warpzone's loggers say to a handler, and closes it afterwards."""
    logger = logging.getLogger("warpzone")
    before = logger.level
    logger.addHandler(handler)
    if not logger.isEnabledFor(level) or before == logging.NOTSET:
        logger.setLevel(level)
    try:
        yield
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)
        handler.close()
