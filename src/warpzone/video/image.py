"""PNG images: the last frame, or a contact sheet of many."""

from __future__ import annotations

import math
from pathlib import Path
from types import TracebackType

import numpy as np

from warpzone.errors import ConfigError, VideoError
from warpzone.system.atomic_file import replacing
from warpzone.video.output import check_output
from warpzone.video.writer import Frame, enlarge

_MAX_SHEET_FRAMES = 400
_GAP = 4


class ImageWriter:
    """Accepts frames like `VideoWriter` and writes a single image."""

    def __init__(self, path: str | Path, scale: int = 1, every: int = 0) -> None:
        """Creates a writer.

        Args:
            path: File to write; must end with .png.
            scale: Integer factor by which frames are enlarged.
            every: N writes a contact sheet of every N-th frame; 0 writes only the last frame.
        """
        self.path = Path(path)
        if self.path.suffix.lower() != ".png":
            raise ConfigError(f"the image file {self.path.name!r} must end with .png")
        if every < 0:
            raise ConfigError(
                f"sheet is {every}; it must be 0, or the interval between frames on the sheet"
            )
        self.frames = 0
        self._scale = scale
        self._every = every
        self._kept: list[Frame] = []

    def __enter__(self) -> ImageWriter:
        """Checks that the file can be written."""
        check_output(self.path)
        return self

    def write(self, frame: Frame) -> None:
        """Adds a frame."""
        if self._every == 0:
            self._kept = [frame]
        elif self.frames % self._every == 0:
            self._kept.append(frame)
        if len(self._kept) > _MAX_SHEET_FRAMES:
            raise VideoError(
                f"the sheet would have more than {_MAX_SHEET_FRAMES} frames; increase the sheet "
                f"interval, for example to {2 * self._every}"
            )
        self.frames += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Writes the file unless the block raised an exception."""
        from PIL import Image

        if kind is not None:
            return
        if not self._kept:
            raise VideoError(f"{self.path} was not written: there are no frames")
        image = contact_sheet(self._kept) if self._every else self._kept[0]
        with replacing(self.path) as part:
            Image.fromarray(enlarge(image, self._scale)).save(part)


def contact_sheet(frames: list[Frame]) -> Frame:
    """Arranges frames in a grid with about as many rows as columns."""
    columns = math.ceil(math.sqrt(len(frames)))
    rows = math.ceil(len(frames) / columns)
    height, width = (size + _GAP for size in frames[0].shape[:2])
    sheet = np.zeros((rows * height - _GAP, columns * width - _GAP, 3), np.uint8)
    for index, frame in enumerate(frames):
        top, left = index // columns * height, index % columns * width
        sheet[top : top + height - _GAP, left : left + width - _GAP] = frame
    return sheet
