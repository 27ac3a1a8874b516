"""Checking output paths before anything is played."""

from __future__ import annotations

from pathlib import Path

from warpzone.errors import VideoError
from warpzone.system.atomic_file import check_writable
from warpzone.system.os_errors import describe_os_error


def check_output(path: Path) -> None:
    """Checks that a file can be written at `path`.

    Raises:
        VideoError: If it cannot; the message says why.
    """
    if not path.parent.is_dir():
        raise VideoError(f"the folder {path.parent} does not exist; create it first")
    if path.is_dir():
        raise VideoError(f"{path} is a folder; give the name of a file")
    try:
        check_writable(path)
    except OSError as error:
        raise VideoError(f"the file cannot be written: {describe_os_error(error)}") from error
