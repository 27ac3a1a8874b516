"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warpzone.errors import VideoError


def part_of(path: Path) -> Path:
    """Returns where to write what shall take the place of `path` once it is whole.

    It lies in the same folder and ends alike, since writers judge by endings.

    Raises:
        VideoError: If no file of this name can be written.
    """
    if not path.parent.is_dir():
        raise VideoError(f"the folder {path.parent} does not exist; make it first")
    if path.is_dir():
        raise VideoError(f"{path} is a folder; name a file")
    if not os.access(path.parent, os.W_OK):
        raise VideoError(f"no file can be written in the folder {path.parent}")
    return path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields such a path; it takes its place at the end of the block, or vanishes with an error."""
    part = part_of(path)
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
