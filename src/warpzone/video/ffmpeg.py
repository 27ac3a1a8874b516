"""The ffmpeg binary that imageio-ffmpeg bundles, as a process that frames are written to."""

from __future__ import annotations

import re
import signal
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from warpzone.errors import VideoError

_SECONDS_TO_END = 60.0
_SOURCE = re.compile(r"^\[[^\]]*\]\s*")  # Such as '[mp4 @ 0x55d0c8]', before the message.


class Ffmpeg:
    """Encodes RGB frames of one size as H.264 with the settings that play everywhere."""

    def __init__(self, path: Path, size: tuple[int, int], fps: float) -> None:
        """Starts the process.

        Args:
            path: The .mp4 file to write.
            size: Width and height of a frame, both even.
            fps: Frames per second.
        """
        import imageio_ffmpeg

        width, height = size
        self._path = path
        self._errors: list[str] = []
        self._process = subprocess.Popen(
            [
                *(imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-v", "error"),
                *("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}"),
                *("-r", f"{fps:.6f}", "-i", "-", "-an"),
                *("-vcodec", "libx264", "-pix_fmt", "yuv420p", "-crf", "18"),
                *("-preset", "veryfast", "-movflags", "+faststart"),
                f"file:{path}",  # A colon in the name would otherwise name a protocol.
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for this process, which ends ffmpeg itself.
        )
        # Read while frames are written: a full pipe would block both.
        self._reader = threading.Thread(target=self._read_errors, daemon=True)
        self._reader.start()

    def write(self, frame: NDArray[np.uint8]) -> None:
        """Writes one frame.

        Raises:
            VideoError: ffmpeg has ended; the text gives its own reason.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(np.ascontiguousarray(frame).data)
        except OSError as error:
            self._wait()
            raise self._failure() from error

    def finish(self) -> None:
        """Ends the video and waits until it is written.

        Raises:
            VideoError: ffmpeg failed; the text gives its own reason.
        """
        self._close_input()
        if self._wait() != 0:
            raise self._failure()

    def kill(self) -> None:
        """Ends the process at once."""
        self._process.kill()
        self._close_input()
        self._wait()

    def _close_input(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):  # It has ended already, and its exit code tells why.
            self._process.stdin.close()

    def _wait(self) -> int:
        code = self._process.wait(_SECONDS_TO_END)
        self._reader.join()
        return code

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr:
            for line in self._process.stderr:
                message = _SOURCE.sub("", line.decode(errors="replace")).strip()
                if message:
                    self._errors.append(message)

    def _failure(self) -> VideoError:
        code = self._process.returncode
        if self._errors:
            reason = self._errors[0]
        elif code < 0:
            reason = f"it was ended by {signal.Signals(-code).name}"
        else:
            reason = f"it ended with exit code {code}"
        return VideoError(f"{self._path.parent}: ffmpeg cannot write the video: {reason}")
