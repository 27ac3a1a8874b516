"""Where pictures and videos may be written."""

from __future__ import annotations

import os
from pathlib import Path

from warpzone.errors import VideoError


def check_output(path: Path) -> None:
    """Fails before anything is played when no file of this name can be written.

    Raises:
        VideoError: Saying why.
    """
    if not path.parent.is_dir():
        raise VideoError(f"the folder {path.parent} does not exist; make it first")
    if path.is_dir():
        raise VideoError(f"{path} is a folder; name a file")
    if not os.access(path.parent, os.W_OK):
        raise VideoError(f"no file can be written in the folder {path.parent}")
