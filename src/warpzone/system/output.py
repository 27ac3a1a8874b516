"""Output that never ends a run: to a full disk, a closed pipe, a terminal that is gone."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO


class TolerantStream(io.TextIOBase):
    """Passes text on to another stream and drops what that one refuses.

    A write fails with ENOSPC (output redirected to a full disk), EPIPE (`| head`), EIO (the
    terminal was closed) or because the stream itself is closed. Characters that its encoding lacks
    are escaped.
    """

    def __init__(self, stream: TextIO) -> None:
        """Wraps a stream."""
        self._stream = stream
        self._failed = False

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """That of the stream."""
        return self._stream.encoding or "utf-8"

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """The stream's descriptor."""
        return self._stream.fileno()

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, text: str) -> int:
        """Writes, if the stream takes it."""
        encoding = self.encoding
        text = text.encode(encoding, "backslashreplace").decode(encoding)
        try:
            self._stream.write(text)
        except (OSError, ValueError):
            self._failed = True
        return len(text)

    def flush(self) -> None:
        """Hands over what is buffered, if the stream takes it."""
        try:
            self._stream.flush()
        except (OSError, ValueError):
            self._failed = True
        else:
            self._failed = False

    def give_up(self) -> None:
        """Drops what a failing stream still holds, so that Python does not fail on it at its end.

        Does nothing when the last output went through.
        """
        if self._failed:
            self.flush()
        if not self._failed:
            return
        try:
            descriptor = self._stream.fileno()
            nowhere = os.open(os.devnull, os.O_WRONLY)
        except (OSError, ValueError):
            return  # A stream without a descriptor holds nothing for the end.
        os.dup2(nowhere, descriptor)
        os.close(nowhere)
        self.flush()


def say(text: str, stream: TextIO | None = None) -> None:
    """Prints a line, or drops it where the output cannot take it.

    Args:
        text: The line.
        stream: Standard output by default.
    """
    output = TolerantStream(sys.stdout if stream is None else stream)
    output.write(text + "\n")
    output.flush()
    output.give_up()
