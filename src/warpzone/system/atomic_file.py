"""Files that appear under their name complete and on disk, or not at all."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_TEMPORARY = re.compile(r"\..+\.(\d+)\.tmp(\..+)?")


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


class HashingFile:
    """A file being written that knows its checksum and why writing failed."""

    def __init__(self, descriptor: int) -> None:
        """Writes to an open descriptor."""
        self.error: OSError | None = None
        """Kept because torch turns it into an error of its own without the reason."""
        self.size = 0
        self._descriptor = descriptor
        self._hash = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """Of everything written so far."""
        return self._hash.hexdigest()

    def write(self, data: bytes) -> int:
        """Writes all of the data."""
        view = memoryview(data).cast("B")
        self._hash.update(view)
        try:
            written = 0
            while written < len(view):
                written += os.write(self._descriptor, view[written:])
        except OSError as error:
            self.error = error
            raise
        self.size += len(view)
        return len(view)

    def flush(self) -> None:
        """Does nothing: nothing is buffered."""


def write_atomically(
    path: Path,
    write: Callable[[HashingFile], object],
    before_rename: Callable[[], object] | None = None,
) -> HashingFile:
    """Writes a file under a temporary name beside it and renames it when it is on the disk.

    Args:
        path: The final name; its folder must exist.
        write: Writes the content.
        before_rename: Called when the content is on the disk.

    Returns:
        The file's size and checksum.

    Raises:
        OSError: The system refused; what was under the name before is untouched.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    with replacing(path) as part:
        descriptor = os.open(part, flags, 0o644)
        try:
            file = HashingFile(descriptor)
            write(file)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if before_rename is not None:
            before_rename()
    return file


def write_text_atomically(path: Path, text: str) -> None:
    """As above, for a small text."""
    write_atomically(path, lambda file: file.write(text.encode()))


def remove_abandoned(folder: Path) -> None:
    """Removes temporary files of processes that are gone."""
    import psutil

    for entry in folder.iterdir():
        match = _TEMPORARY.fullmatch(entry.name)
        if match and not psutil.pid_exists(int(match[1])):
            entry.unlink(missing_ok=True)
