"""log.txt: log records, prefixed with the part of the package that they come from."""

from __future__ import annotations

import logging
import re
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warpzone.system.output import say
from warpzone.telemetry.append_file import AppendFile

# Prefix by logger name; all other loggers belong to training.
_PREFIXES = {
    "warpzone.envs": "env",
    "warpzone.replay": "replay",
    "warpzone.training.guidance.hints": "hint",
    "warpzone.bench.env": "bench",
    "warpzone.runs.backfill": "migrate",
}
_LOGGERS = {prefix: name for name, prefix in _PREFIXES.items()}


def prefix_of(logger: str) -> str:
    """Returns the prefix for a logger's name, such as 'env'."""
    for name, prefix in _PREFIXES.items():
        if logger == name or logger.startswith((name + ".", name + "_")):
            return prefix
    return "train"


class PrefixFormatter(logging.Formatter):
    """Formats records as `2026-11-15T23:40:25Z [train] warning: text`; the time is optional."""

    def __init__(self, with_time: bool = True) -> None:
        """Creates the formatter.

        Args:
            with_time: Whether to begin lines with the time, in UTC.
        """
        super().__init__("%(message)s")
        self._with_time = with_time

    def format(self, record: logging.LogRecord) -> str:
        """Prepends the time, the prefix and, for warnings and errors, the level."""
        text = super().format(record)
        level = f"{record.levelname.lower()}: " if record.levelno >= logging.WARNING else ""
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ ", time.gmtime(record.created))
        return f"{moment if self._with_time else ''}[{prefix_of(record.name)}] {level}{text}"


class LogFileHandler(logging.Handler):
    """Appends to a file; survives a deleted folder and a full disk."""

    def __init__(self, path: Path) -> None:
        """Creates the handler; the file is opened by the first record.

        Args:
            path: File to append to, such as `log.txt`.
        """
        super().__init__()
        self.setFormatter(PrefixFormatter())
        self._file = AppendFile(path)
        self._dropped = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Writes a record; lost records are counted and reported once writing works again."""
        text = self.format(record) + "\n"
        try:
            if self._dropped:
                self._file.append(f"({self._dropped} lines were lost here)\n".encode())
                self._dropped = 0
            self._file.append(text.encode(errors="backslashreplace"))
        except OSError as error:
            if not self._dropped:
                say(f"{self._file.path} cannot be written: {error}", sys.stderr)
            self._dropped += 1

    def close(self) -> None:
        """Closes the file."""
        self._file.close()
        super().close()


@contextmanager
def warnings_to_log() -> Iterator[None]:
    """Redirects Python's warnings to warpzone's loggers, for log.txt and the display.

    A prefix of the message, such as '[env] ', selects the logger.
    """

    def log(message: Warning | str, *_: object, **__: object) -> None:
        match = re.match(r"\[(\w+)\] ", str(message))
        logger = _LOGGERS.get(match[1]) if match else None
        text = str(message)[match.end() :] if match and logger else str(message)
        logging.getLogger(logger or "warpzone.training").warning("%s", text)

    with warnings.catch_warnings():
        warnings.showwarning = log
        yield


@contextmanager
def log_to(handler: logging.Handler, level: int = logging.INFO) -> Iterator[None]:
    """Sends the records of all warpzone loggers to a handler, and closes it at the end."""
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
