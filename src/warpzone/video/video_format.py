"""Size, frame rate and speed of a video, with defaults for each kind of file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from warpzone.errors import ConfigError
from warpzone.video.episode import VideoOptions, WriteSound
from warpzone.video.recorded_env import FRAMES_PER_SECOND, RecordedEnv
from warpzone.video.resampling import Resampler
from warpzone.video.wrapped_recording import WrappedRecording
from warpzone.video.writer import VideoWriter

MAX_SPEED = 16.0
SOUND_RATE = 44_100
CONSOLE_FRAMES_PER_SECOND = 60.0988
_MIN_SPEED = 1 / 16


@dataclass(frozen=True)
class VideoFormat:
    """How a recording is written.

    Attributes:
        scale: Video pixels per pixel of the game; by default 2, or 1 for a GIF.
        fps: Frames per second of video; by default 60, or 20 for a GIF.
        speed: Speed of the game in the video; 1 is the game's own, and the default. A GIF plays
            twice as fast by default.
        sound: Add the sound of the game, which needs an .mp4 at the game's own speed.
    """

    scale: int | None = None
    fps: float | None = None
    speed: float | None = None
    sound: bool = False

    def __post_init__(self) -> None:
        """Checks the speed; `VideoWriter` checks the rest."""
        if self.sound and self.speed not in (None, 1):
            raise ConfigError(f"speed is {self.speed:g}; a video with sound plays at speed 1")
        if self.speed is not None and not _MIN_SPEED <= self.speed <= MAX_SPEED:
            raise ConfigError(
                f"speed is {self.speed:g}; it must be from {_MIN_SPEED:g} to {MAX_SPEED:g}"
            )

    def writer(self, path: Path) -> VideoWriter:
        """Returns a writer of a file in this format."""
        # A second of video has 60 emulated frames, a second of the console 60.1.
        rate = SOUND_RATE * FRAMES_PER_SECOND / CONSOLE_FRAMES_PER_SECOND if self.sound else 0.0
        return VideoWriter(path, self._fps(path), self._scale(path), rate)

    def prepare(self, env: RecordedEnv | WrappedRecording) -> None:
        """Lets the environment make sound if the video has any."""
        env.console.set_sound(SOUND_RATE if self.sound else 0)

    def write_sound(self, video: VideoWriter) -> WriteSound | None:
        """Returns what takes the sound of each frame, if the video has any."""
        return video.write_sound if self.sound else None

    def sheet_writer(self, path: Path, steps_per_second: float) -> tuple[VideoWriter, Resampler]:
        """Returns a writer of a contact sheet, and how to resample its one frame per step."""
        if self.sound:
            raise ConfigError("a contact sheet has no sound; omit --sound")
        default = steps_per_second / 2 if _is_gif(path) else steps_per_second
        fps = default if self.fps is None else self.fps
        writer = VideoWriter(path, fps, self.scale or 1)
        return writer, Resampler(fps / self._speed(path) / steps_per_second)

    def options(self, path: Path) -> VideoOptions:
        """Returns what the frames of a file in this format show."""
        return VideoOptions(fps=self._fps(path), speed=self._speed(path))

    def _scale(self, path: Path) -> int:
        return (1 if _is_gif(path) else 2) if self.scale is None else self.scale

    def _fps(self, path: Path) -> float:
        return (20.0 if _is_gif(path) else 60.0) if self.fps is None else self.fps

    def _speed(self, path: Path) -> float:
        return (2.0 if _is_gif(path) else 1.0) if self.speed is None else self.speed


def _is_gif(path: Path) -> bool:
    return path.suffix.lower() == ".gif"
