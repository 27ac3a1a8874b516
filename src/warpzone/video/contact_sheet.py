"""A contact sheet of a trained policy: many episodes side by side, as a video or an image."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from warpzone.envs.endings import CLEAR, end_name, is_death
from warpzone.envs.vector import MarioVectorEnv
from warpzone.envs.wrapping import EpisodeEnv
from warpzone.errors import ConfigError
from warpzone.evaluation.trained import Player, load_policy
from warpzone.runs.levels import named_levels, trained_levels
from warpzone.video.choosing import OnProgress
from warpzone.video.image import ImageWriter, contact_sheet
from warpzone.video.overlay import Color, caption_bar
from warpzone.video.recorded_env import FRAMES_PER_SECOND
from warpzone.video.video_format import VideoFormat
from warpzone.video.writer import Frame, VideoWriter

_MAX_ENVS = 100
_MAX_STEPS = 2000
_BORDER = 4
_CLEARED, _DIED, _TRUNCATED = (60, 200, 80), (220, 50, 50), (130, 130, 130)
_PLAYING = (200, 200, 200)
_FINAL_SECONDS = 2


def record_contact_sheet(
    target: Path,
    output: Path,
    *,
    num_envs: int = 16,
    level: str | None = None,
    seed: int = 0,
    greedy: bool = False,
    rom: Path | None = None,
    video_format: VideoFormat | None = None,
    progress: OnProgress | None = None,
) -> Path:
    """Plays one episode per environment and freezes each when its episode ends.

    Below each environment a caption says its level, its seed and how its episode ended. A frozen
    environment also gets a colored border: green for cleared, red for died, grey for truncated.

    Args:
        target: A run, a checkpoint, a policy file, or a folder of policy files.
        output: A .mp4 or .gif (at half size) for a video, a .png for the final frames only.
        num_envs: Number of environments. Multiple levels are assigned in turn.
        level: Level to play instead of the levels the policy was trained on.
        seed: Seed of the first environment; the others use the following seeds.
        greedy: Always take the most likely action.
        rom: ROM to play instead of the one that the policy was trained with.
        video_format: Size, frame rate and speed; a video has one frame per step by default, a GIF
            fewer.
        progress: Called with the number of ended episodes.

    Returns:
        The path of the written file.
    """
    if not 1 <= num_envs <= _MAX_ENVS:
        raise ConfigError(f"num_envs is {num_envs}; it must be from 1 to {_MAX_ENVS}")
    video_format = video_format or VideoFormat()
    trained = load_policy(target, level, rom)
    options = trained.config.env
    levels = named_levels(level, options.game) if level else trained_levels(options)
    env = MarioVectorEnv(
        levels,
        num_envs=num_envs,
        render_mode="rgb_array",
        autoreset="disabled",
        max_steps=_MAX_STEPS,
        stagnation_limit=options.stagnation_limit,
        sticky_prob=options.sticky_prob,
        sticky=options.sticky,
        noop_max=options.noop_max,
        **trained.env_options(),
    )
    names = [f"{levels[index % len(levels)]} seed {seed + index}" for index in range(num_envs)]
    steps_per_second = FRAMES_PER_SECOND / options.frame_skip
    try:
        writer, write = _writer(output, video_format, steps_per_second)
        with writer:
            player = trained.player(num_envs, seed, greedy)
            episodes = EpisodeEnv(env, trained.wrap)
            sheet = _Sheet(names, shrink=2 if output.suffix.lower() == ".gif" else 1)
            for running in _play(env, episodes, player, seed, sheet):
                write(sheet.image())
                if progress is not None:
                    progress("playing", num_envs - running, num_envs)
            for _ in range(int(_FINAL_SECONDS * steps_per_second)):
                write(sheet.image())
    finally:
        env.close()
    return output


def _writer(
    output: Path, video_format: VideoFormat, steps_per_second: float
) -> tuple[ImageWriter | VideoWriter, Callable[[Frame], None]]:
    """Returns the file, and a function that takes one frame per step."""
    if output.suffix.lower() == ".png" and not video_format.sound:
        image = ImageWriter(output, video_format.scale or 1)
        return image, image.write
    video, resampler = video_format.sheet_writer(output, steps_per_second)

    def write(frame: Frame) -> None:
        for _ in range(resampler.copies()):
            video.write(frame)

    return video, write


class _Sheet:
    """The newest frame and the caption of each environment."""

    def __init__(self, names: Sequence[str], shrink: int) -> None:
        self._names, self._shrink = names, shrink
        self._frames: list[Frame] = []
        self._captions: list[tuple[str, Color]] = [(name, _PLAYING) for name in names]

    def show(self, index: int, frame: Frame) -> None:
        """Shows a new frame of an environment."""
        frame = frame[:: self._shrink, :: self._shrink]
        if index == len(self._frames):
            self._frames.append(frame)
        self._frames[index] = frame

    def end(self, index: int, reason: str) -> None:
        """Freezes an environment whose episode has ended."""
        color = _CLEARED if reason == CLEAR else _DIED if is_death(reason) else _TRUNCATED
        self._frames[index] = _with_border(self._frames[index], color)
        ended = "cleared" if reason == CLEAR else reason
        self._captions[index] = (f"{self._names[index]} {ended}", color)

    def image(self) -> Frame:
        """Returns all environments with their captions."""
        width = self._frames[0].shape[1]
        return contact_sheet(
            [
                np.concatenate([frame, caption_bar(text, width, color)])
                for frame, (text, color) in zip(self._frames, self._captions, strict=True)
            ]
        )


def _play(
    env: MarioVectorEnv, episodes: EpisodeEnv, player: Player, seed: int, sheet: _Sheet
) -> Iterator[int]:
    """Plays one episode per environment; yields how many still run before each step."""
    obs = episodes.reset(seed)
    episode_start = np.ones(env.num_envs, np.bool_)
    running = set(range(env.num_envs))
    for index, screen in enumerate(_screens(env)):
        sheet.show(index, screen)
    while running:
        yield len(running)
        obs, _, episode_start, info = episodes.step(player(obs, episode_start))
        screens = _screens(env)
        for index in list(running):
            if episode_start[index]:
                # The environment has already reset; its previous frame is how the episode ended.
                sheet.end(index, end_name(int(info["end_reason"][index])))
                running.remove(index)
            else:
                sheet.show(index, screens[index])


def _screens(env: MarioVectorEnv) -> list[Frame]:
    screens = env.render()
    assert screens is not None
    return list(screens)


def _with_border(frame: Frame, color: Color) -> Frame:
    """Returns the frame at half brightness with a colored border."""
    bordered = np.full_like(frame, color)
    inside = slice(_BORDER, -_BORDER)
    bordered[inside, inside] = frame[inside, inside] // 2
    return bordered
