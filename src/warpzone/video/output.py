"""Checking output paths before anything is played."""

from __future__ import annotations

import os
from pathlib import Path

from warpzone.errors import VideoError


def check_output(path: Path) -> None:
    """Checks that a file can be written at `path`.

    Raises:
        VideoError: If it cannot; the message says why.
    """
    if not path.parent.is_dir():
        raise VideoError(f"the folder {path.parent} does not exist; create it first")
    if path.is_dir():
        raise VideoError(f"{path} is a folder; give the name of a file")
    if not os.access(path.parent, os.W_OK):
        raise VideoError(f"the folder {path.parent} is not writable; choose another folder")
