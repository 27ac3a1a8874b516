"""A dashboard in a process of its own that ends with the one that started it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warpzone.errors import ServerError

_EXIT_SECONDS = 10.0


@contextmanager
def background_dashboard(folder: Path) -> Iterator[str]:
    """Serves the runs of a folder inside the block.

    The process holds the other end of a pipe, so it ends even if this one is killed.

    Yields:
        The address with its token.

    Raises:
        ServerError: The dashboard did not start.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "warpzone.dashboard", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for the trainer, which closes the pipe at its end.
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        line = process.stdout.readline().strip()
        if not line.startswith("http"):
            reason = line.removeprefix("error: ") or "its process ended"
            raise ServerError(f"the dashboard did not start: {reason}")
        yield line
    finally:
        process.stdin.close()
        try:
            process.wait(_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
