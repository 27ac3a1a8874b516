"""Files that appear under their name complete and on disk, or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_TEMPORARY = re.compile(r"\..+\.(\d{1,9})\.tmp(\..+)?")
_PROBE_BYTES = 4096  # A full disk often still takes an empty file.


class WholeFile:
    """A file that is written under a temporary name beside its final one.

    Attributes:
        path: The final name; what is there stays until `keep`.
        part: Where to write. It has the suffix of `path`, from which writers infer the format.
    """

    def __init__(self, path: Path) -> None:
        """Writes nothing yet."""
        self.path = path
        self.part = path.with_name(f".{path.name}.{os.getpid()}.tmp{path.suffix}")

    def keep(self) -> None:
        """Flushes what was written to the disk and renames it to its final name."""
        with self.part.open("rb+") as file:
            os.fsync(file.fileno())
        self.part.replace(self.path)
        sync_folder(self.path.parent)

    def discard(self) -> None:
        """Removes what was written, if it is still there.

        A failure must not hide why the file was not kept: what stays behind is removed later, by
        `remove_abandoned`.
        """
        with suppress(OSError):
            self.part.unlink(missing_ok=True)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields where to write; that file replaces `path` at the end, or is removed on an error.

    Raises:
        OSError: The system refused; what was at `path` before is untouched.
    """
    file = WholeFile(path)
    try:
        yield file.part
        file.keep()
    finally:
        file.discard()


def check_writable(path: Path) -> None:
    """Fails early where a file could not be written, before the work whose result it will hold.

    Args:
        path: The file; what is there stays as it is.

    Raises:
        OSError: Its folder is missing or takes no file, the disk is full, or the path is a folder.
    """
    if "\0" in str(path):
        raise OSError(errno.EINVAL, "a name cannot contain a null character", str(path))
    if path.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    probe = WholeFile(path)
    try:
        probe.part.write_bytes(bytes(_PROBE_BYTES))
    except OSError as error:
        # The path that was asked for says more than that of the probe.
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        probe.discard()


def sync_folder(folder: Path) -> None:
    """Makes a rename durable; Windows has no such call and needs none."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class HashingFile:
    """A file being written that computes its checksum and remembers why writing failed."""

    def __init__(self, descriptor: int) -> None:
        """Writes to an open descriptor."""
        self.failure: tuple[int, str] | None = None
        """Number and text of the error that ended writing.

        It is kept because torch raises an error of its own that lacks the reason. The error itself
        is not: its traceback would keep everything alive that was being written.
        """
        self.size = 0
        self._descriptor = descriptor
        self._hash = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """Checksum of everything written so far, in hex digits."""
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
            self.failure = error.errno or errno.EIO, error.strerror or str(error)
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
    """Writes a file under a temporary name beside it and renames it once it is on the disk.

    Args:
        path: The final name; its folder must exist.
        write: Writes the content.
        before_rename: Called once the content is on the disk.

    Returns:
        The file's size and checksum.

    Raises:
        OSError: The system refused; what was at `path` before is untouched.
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
    """Writes a small text file as `write_atomically` does."""
    write_atomically(path, lambda file: file.write(text.encode()))


def is_temporary(name: str) -> bool:
    """Whether a file of this name is one that is, or was, being written here."""
    return _TEMPORARY.fullmatch(name) is not None


def remove_abandoned(folder: Path) -> None:
    """Removes temporary files of processes that have ended."""
    import psutil

    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        match = _TEMPORARY.fullmatch(entry.name)
        if match and not psutil.pid_exists(int(match[1])):
            entry.unlink(missing_ok=True)
