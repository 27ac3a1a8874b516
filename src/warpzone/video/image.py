"""Pictures: the last frame, or a sheet of many, as a PNG."""

from __future__ import annotations

import math
from pathlib import Path
from types import TracebackType

import numpy as np

from warpzone.errors import ConfigError, VideoError
from warpzone.system.atomic_file import replacing
from warpzone.video.output import check_output
from warpzone.video.writer import Frame, enlarge

_MOST_ON_A_SHEET = 400
_GAP = 4


class PictureWriter:
    """Takes frames as a `VideoWriter` does, and makes one picture of them."""

    def __init__(self, path: str | Path, scale: int = 1, every: int = 0) -> None:
        """Prepares to write.

        Args:
            path: Ends with .png.
            scale: How many times larger each pixel becomes.
            every: N puts every N-th frame on a sheet; 0 keeps only the last frame.
        """
        self.path = Path(path)
        if self.path.suffix.lower() != ".png":
            raise ConfigError(f"the picture's name {self.path.name!r} must end with .png")
        if every < 0:
            raise ConfigError(f"sheet is {every}; it must be 0 or the distance of frames")
        self.frames = 0
        self._scale = scale
        self._every = every
        self._kept: list[Frame] = []

    def __enter__(self) -> PictureWriter:
        """Checks that the file can be written."""
        check_output(self.path)
        return self

    def write(self, frame: Frame) -> None:
        """Adds a frame."""
        if self._every == 0:
            self._kept = [frame]
        elif self.frames % self._every == 0:
            self._kept.append(frame)
        if len(self._kept) > _MOST_ON_A_SHEET:
            raise VideoError(
                f"the sheet has more than {_MOST_ON_A_SHEET} pictures; take every 2nd or fewer of "
                f"them with a sheet distance of {2 * self._every}"
            )
        self.frames += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Writes the file, unless the block failed."""
        from PIL import Image

        if kind is not None:
            return
        if not self._kept:
            raise VideoError(f"{self.path} was not written: there was no frame")
        picture = contact_sheet(self._kept) if self._every else self._kept[0]
        with replacing(self.path) as part:
            Image.fromarray(enlarge(picture, self._scale)).save(part)


def contact_sheet(frames: list[Frame]) -> Frame:
    """Lays frames out in rows, about as wide as high."""
    columns = math.ceil(math.sqrt(len(frames)))
    rows = math.ceil(len(frames) / columns)
    height, width = (size + _GAP for size in frames[0].shape[:2])
    sheet = np.zeros((rows * height - _GAP, columns * width - _GAP, 3), np.uint8)
    for index, frame in enumerate(frames):
        top, left = index // columns * height, index % columns * width
        sheet[top : top + height - _GAP, left : left + width - _GAP] = frame
    return sheet
