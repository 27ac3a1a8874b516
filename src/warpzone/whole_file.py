"""Files that appear under their name whole and on the disk, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class WholeFile:
    """A file that is being made under a temporary name beside its own.

    Attributes:
        path: Its own name; what is there stays until `keep`.
        part: Where to write. It ends as `path` does, since writers judge by endings.
    """

    def __init__(self, path: Path) -> None:
        """Touches nothing yet."""
        self.path = path
        self.part = path.with_name(f".{path.name}.{os.getpid()}.tmp{path.suffix}")

    def keep(self) -> None:
        """Flushes what was written to the disk and gives it its name, in one step."""
        with self.part.open("rb+") as file:
            os.fsync(file.fileno())
        self.part.replace(self.path)
        sync_folder(self.path.parent)

    def discard(self) -> None:
        """Removes what was written, if it is still there."""
        self.part.unlink(missing_ok=True)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields where to write; it takes the place of `path` at the end, or vanishes with an error.

    Raises:
        OSError: The system refused; what was under the name before is untouched.
    """
    file = WholeFile(path)
    try:
        yield file.part
        file.keep()
    finally:
        file.discard()


def sync_folder(folder: Path) -> None:
    """Makes a rename last; Windows has no such call and needs none."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
