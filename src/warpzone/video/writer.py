"""Writing frames to an MP4 or GIF file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from warpzone.errors import ConfigError, VideoError
from warpzone.system.atomic_file import WholeFile
from warpzone.video.ffmpeg import Ffmpeg
from warpzone.video.output import check_output
from warpzone.video.soundtrack import Soundtrack

if TYPE_CHECKING:
    from PIL.Image import Image

Frame = NDArray[np.uint8]  # height x width x 3

VIDEO_SUFFIXES = (".mp4", ".gif")


class VideoWriter:
    """Writes a video file atomically: it appears under its name only once complete.

    Example:
        >>> with VideoWriter("run.mp4", fps=60, scale=2) as video:
        ...     video.write(env.render())
    """

    def __init__(
        self, path: str | Path, fps: float = 60.0, scale: int = 1, sound_rate: float = 0.0
    ) -> None:
        """Creates a writer.

        Args:
            path: File to write; must end with .mp4 (H.264) or .gif.
            fps: Frames per second. A GIF is limited to 50; above that, frames are dropped so that
                it still plays at the right speed.
            scale: Integer factor by which frames are enlarged.
            sound_rate: Samples per second of video that `write_sound` will receive; 0 writes a
                video without sound.
        """
        self.path = Path(path)
        if self.path.suffix.lower() not in VIDEO_SUFFIXES:
            suffixes = " or ".join(VIDEO_SUFFIXES)
            raise ConfigError(f"the video file {self.path.name!r} must end with {suffixes}")
        if not 0 < fps <= 1000:
            raise ConfigError(f"fps is {fps}; it must be above 0 and at most 1000")
        if not 1 <= scale <= 16:
            raise ConfigError(f"scale is {scale}; it must be from 1 to 16")
        if sound_rate and self.path.suffix.lower() != ".mp4":
            raise ConfigError(f"{self.path.name!r} cannot have sound; write an .mp4 file instead")
        self.frames = 0
        self._soundtrack = Soundtrack(sound_rate) if sound_rate else None
        self._fps = fps
        self._scale = scale
        self._shape: tuple[int, ...] | None = None
        self._encoder: _Encoder | None = None

    def __enter__(self) -> VideoWriter:
        """Checks that the file can be written."""
        check_output(self.path)
        self._file = WholeFile(self.path)
        encoder = _Mp4 if self.path.suffix.lower() == ".mp4" else _Gif
        self._encoder = encoder(self._file.part, self._fps, self._scale)
        return self

    def write(self, frame: Frame) -> None:
        """Adds a frame.

        Args:
            frame: uint8 array of shape (height, width, 3); all frames must have the same shape.
        """
        if self._encoder is None:
            raise VideoError("this video is not open; use `with VideoWriter(...) as video:`")
        if frame.dtype != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3:
            raise VideoError(
                f"a frame must be uint8 of shape (height, width, 3), not {frame.dtype} of shape "
                f"{frame.shape}"
            )
        if self._shape not in (None, frame.shape):
            raise VideoError(
                f"the frame has shape {frame.shape}, but the first frame had {self._shape}"
            )
        self._shape = frame.shape
        self._encoder.write(frame)
        self.frames += 1

    def write_sound(self, samples: NDArray[np.float32]) -> None:
        """Adds sound, which plays from the start of the video, without gaps.

        Args:
            samples: Values from -1 to 1.
        """
        if self._soundtrack is None:
            raise VideoError("this video has no sound; give `sound_rate`")
        self._soundtrack.write(samples)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Finishes the file, or removes the partial file if the block raised an exception."""
        encoder, self._encoder = self._encoder, None
        assert encoder is not None
        try:
            if kind is not None:
                encoder.abort()
            elif self.frames == 0:
                raise VideoError(f"{self.path} was not written: there are no frames")
            else:
                encoder.finish()
                if self._soundtrack is not None:
                    self._soundtrack.add_to(self._file.part)
                self._file.keep()
        finally:
            self._file.discard()


class _Encoder(Protocol):
    def __init__(self, path: Path, fps: float, scale: int) -> None: ...
    def write(self, frame: Frame) -> None: ...
    def finish(self) -> None: ...
    def abort(self) -> None: ...


class _Mp4:
    """H.264, encoded by ffmpeg."""

    def __init__(self, path: Path, fps: float, scale: int) -> None:
        self._path, self._fps, self._scale = path, fps, scale
        self._ffmpeg: Ffmpeg | None = None

    def write(self, frame: Frame) -> None:
        # Color is stored at half resolution (yuv420p), so both sides must be even.
        image = enlarge(frame, self._scale)
        height, width = image.shape[:2]
        image = np.pad(image, ((0, height % 2), (0, width % 2), (0, 0)))
        if self._ffmpeg is None:
            self._ffmpeg = Ffmpeg(self._path, (image.shape[1], image.shape[0]), self._fps)
        self._ffmpeg.write(image)

    def finish(self) -> None:
        assert self._ffmpeg is not None, "there was a frame"
        self._ffmpeg.finish()

    def abort(self) -> None:
        if self._ffmpeg is not None:
            self._ffmpeg.kill()


class _Gif:
    """Frames are kept in memory, unscaled and at one byte per pixel, until the end."""

    _MAX_FPS = 50  # Viewers slow down GIFs that claim a higher rate.

    def __init__(self, path: Path, fps: float, scale: int) -> None:
        self._path, self._scale = path, scale
        self._every = math.ceil(fps / self._MAX_FPS)
        self._fps = fps / self._every
        self._received = 0
        self._images: list[Image] = []

    def write(self, frame: Frame) -> None:
        from PIL import Image

        if self._received % self._every == 0:
            image = Image.fromarray(frame)
            self._images.append(image.quantize(256, dither=Image.Dither.NONE))
        self._received += 1

    def finish(self) -> None:
        from PIL import Image

        def enlarged() -> Iterator[Image.Image]:
            for image in self._images:
                size = (image.width * self._scale, image.height * self._scale)
                yield image.resize(size, Image.Resampling.NEAREST)

        images = enlarged()
        first = next(images)
        first.save(
            self._path,
            save_all=True,
            append_images=images,
            duration=gif_durations(len(self._images), self._fps),
            loop=0,
        )

    def abort(self) -> None:
        self._images.clear()


def enlarge(frame: Frame, scale: int) -> Frame:
    """Enlarges a frame by an integer factor, without interpolation."""
    if scale == 1:
        return frame
    return frame.repeat(scale, axis=0).repeat(scale, axis=1)


def gif_durations(count: int, fps: float) -> list[int]:
    """Returns each frame's duration in ms, rounded to 10 ms without accumulating an error."""
    ends = [round(100 * (index + 1) / fps) * 10 for index in range(count)]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]
