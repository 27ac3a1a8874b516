"""The sound of a video, encoded and added to the file once its frames are complete."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from warpzone.errors import VideoError

_OUTPUT_RATE = 44_100
_LOUDEST = 32_767


class Soundtrack:
    """Collects samples as 16-bit integers and adds them to an .mp4 file as AAC."""

    def __init__(self, rate: float) -> None:
        """Creates an empty soundtrack.

        Args:
            rate: Samples per second of video.
        """
        self._rate = rate
        self._samples = bytearray()

    def write(self, samples: NDArray[np.float32]) -> None:
        """Adds samples from -1 to 1; values beyond are clipped."""
        clipped = np.clip(samples, -1.0, 1.0) * _LOUDEST
        self._samples += clipped.astype("<i2").tobytes()

    def add_to(self, video: Path) -> None:
        """Replaces a video without sound by one with this sound.

        Raises:
            VideoError: ffmpeg failed; the text gives its own reason.
        """
        import imageio_ffmpeg

        silent = video.with_name(f"{video.stem}.silent{video.suffix}")
        video.rename(silent)
        command = [
            *(imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-v", "error", "-i", f"file:{silent}"),
            *("-f", "s16le", "-ar", str(round(self._rate)), "-ac", "1", "-i", "-"),
            *("-map", "0:v", "-map", "1:a", "-c:v", "copy"),
            *("-c:a", "aac", "-b:a", "128k", "-ar", str(_OUTPUT_RATE)),
            *("-movflags", "+faststart", f"file:{video}"),
        ]
        try:
            done = subprocess.run(command, input=self._samples, capture_output=True, check=False)
        finally:
            silent.unlink()
        if done.returncode != 0:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            reason = lines[0] if lines else f"it ended with exit code {done.returncode}"
            raise VideoError(f"{video.parent}: ffmpeg cannot add the sound: {reason}")
