"""A contact sheet of a trained policy: many episodes side by side, as a video or an image."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from warpzone.envs.endings import CLEAR, end_name, is_death
from warpzone.envs.vector import MarioVectorEnv
from warpzone.envs.wrapping import EpisodeEnv
from warpzone.errors import ConfigError
from warpzone.evaluation.trained import Player, load_policy
from warpzone.runs.levels import named_levels, trained_levels
from warpzone.video.image import ImageWriter, contact_sheet
from warpzone.video.recorded_env import FRAMES_PER_SECOND
from warpzone.video.writer import Frame, VideoWriter

_MAX_ENVS = 100
_MAX_STEPS = 2000
_BORDER = 4
_CLEARED, _DIED, _TRUNCATED = (60, 200, 80), (220, 50, 50), (130, 130, 130)
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
) -> Path:
    """Plays one episode per environment and freezes each when its episode ends.

    A frozen environment gets a coloured border: green for cleared, red for died, grey for
    truncated.

    Args:
        target: A run, a checkpoint, a policy file, or a folder of policy files.
        output: A .mp4 or .gif (at half size) for a video, a .png for the final frames only.
        num_envs: Number of environments. Multiple levels are assigned in turn.
        level: Level to play instead of the levels the policy was trained on.
        seed: Seed of the first environment; the others use the following seeds.
        greedy: Always take the most likely action.
        rom: ROM to play instead of the one that the policy was trained with.

    Returns:
        The path of the written file.
    """
    if not 1 <= num_envs <= _MAX_ENVS:
        raise ConfigError(f"num_envs is {num_envs}; it must be from 1 to {_MAX_ENVS}")
    trained = load_policy(target, level, rom)
    options = trained.config.env
    env = MarioVectorEnv(
        named_levels(level, options.game) if level else trained_levels(options),
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
    fps = FRAMES_PER_SECOND / options.frame_skip
    suffix = output.suffix.lower()
    writer = ImageWriter(output) if suffix == ".png" else VideoWriter(output, fps=fps)
    shrink = 2 if suffix == ".gif" else 1

    def write(frame: Frame) -> None:
        writer.write(frame[::shrink, ::shrink])

    try:
        with writer:
            player = trained.player(num_envs, seed, greedy)
            episodes = EpisodeEnv(env, trained.wrap)
            last = _play(env, episodes, player, seed, write)
            for _ in range(int(_FINAL_SECONDS * fps)):
                write(last)
    finally:
        env.close()
    return output


def _play(
    env: MarioVectorEnv,
    episodes: EpisodeEnv,
    player: Player,
    seed: int,
    write: Callable[[Frame], None],
) -> Frame:
    """Writes frames until every episode has ended; returns the last frame."""
    obs = episodes.reset(seed)
    episode_start = np.ones(env.num_envs, np.bool_)
    frames = _screens(env)
    running = set(range(env.num_envs))
    while running:
        write(contact_sheet(frames))
        obs, _, episode_start, info = episodes.step(player(obs, episode_start))
        screens = _screens(env)
        for index in list(running):
            if episode_start[index]:
                # The environment has already reset; its previous frame is how the episode ended.
                frames[index] = _with_border(frames[index], _border_colour(info, index))
                running.remove(index)
            else:
                frames[index] = screens[index]
    return contact_sheet(frames)


def _screens(env: MarioVectorEnv) -> list[Frame]:
    screens = env.render()
    assert screens is not None
    return list(screens)


def _border_colour(info: dict[str, Any], index: int) -> tuple[int, int, int]:
    end = end_name(int(info["end_reason"][index]))
    if end == CLEAR:
        return _CLEARED
    return _DIED if is_death(end) else _TRUNCATED


def _with_border(frame: Frame, colour: tuple[int, int, int]) -> Frame:
    """Returns the frame at half brightness with a coloured border."""
    bordered = np.full_like(frame, colour)
    inside = slice(_BORDER, -_BORDER)
    bordered[inside, inside] = frame[inside, inside] // 2
    return bordered
