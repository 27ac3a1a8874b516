"""A contact sheet of a trained policy: many lanes side by side, as a film or a picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from warpzone.envs.vector import MarioVectorEnv
from warpzone.errors import ConfigError
from warpzone.evaluate.trained import Player, load_policy
from warpzone.runs.levels import named_levels, trained_levels
from warpzone.video.image import PictureWriter, contact_sheet
from warpzone.video.recorded_env import FRAMES_PER_SECOND
from warpzone.video.writer import Frame, VideoWriter

_MOST_LANES = 100
_MOST_STEPS = 2000
_EDGE = 4
_CLEARED, _LOST, _CUT = (60, 200, 80), (220, 50, 50), (130, 130, 130)
_SECONDS_AT_THE_END = 2


def record_contact_sheet(
    target: Path,
    output: Path,
    *,
    lanes: int = 16,
    level: str | None = None,
    seed: int = 0,
    greedy: bool = False,
) -> Path:
    """Plays one episode in each lane; a lane that has ended stays, with a coloured edge.

    Green means cleared, red a lost life, grey that the episode was cut.

    Args:
        target: A run, a checkpoint, a policy file, or a folder of those.
        output: .mp4 or .gif (at half the size) for a film, .png for how the episodes ended.
        lanes: How many; several levels take turns.
        level: Another level than the run's own.
        seed: Of the first lane; the others follow.
        greedy: Always take the most likely action.
    """
    if not 1 <= lanes <= _MOST_LANES:
        raise ConfigError(f"lanes is {lanes}; it must be from 1 to {_MOST_LANES}")
    trained = load_policy(target, level)
    options = trained.config.env
    env = MarioVectorEnv(
        named_levels(level) if level else trained_levels(options),
        num_envs=lanes,
        render_mode="rgb_array",
        autoreset="same-step",
        max_steps=_MOST_STEPS,
        stagnation_limit=options.stagnation_limit,
        sticky_prob=options.sticky_prob,
        noop_max=options.noop_max,
        **trained.env_options(),
    )
    fps = FRAMES_PER_SECOND / options.frame_skip
    ending = output.suffix.lower()
    writer = PictureWriter(output) if ending == ".png" else VideoWriter(output, fps=fps)
    step = 2 if ending == ".gif" else 1
    try:
        with writer:
            last = _play(env, trained.player(lanes, seed, greedy), seed, writer.write, step)
            for _ in range(int(_SECONDS_AT_THE_END * fps)):
                writer.write(last)
    finally:
        env.close()
    return output


def _play(
    env: MarioVectorEnv, player: Player, seed: int, write: Callable[[Frame], None], every: int
) -> Frame:
    """Films until every lane has ended; returns the last picture."""
    obs, _ = env.reset(seed=seed)
    first = np.ones(env.num_envs, np.bool_)
    pictures = _screens(env)
    running = set(range(env.num_envs))
    while running:
        write(contact_sheet(pictures)[::every, ::every])
        obs, _, terminated, truncated, info = env.step(player(obs, first))
        first = terminated | truncated
        screens = _screens(env)
        for lane in list(running):
            if first[lane]:
                # The lane has begun anew; what it showed before is how it ended.
                pictures[lane] = _edged(pictures[lane], _colour(info, lane))
                running.remove(lane)
            else:
                pictures[lane] = screens[lane]
    return contact_sheet(pictures)[::every, ::every]


def _screens(env: MarioVectorEnv) -> list[Frame]:
    screens = env.render()
    assert screens is not None
    return list(screens)


def _colour(info: dict[str, Any], lane: int) -> tuple[int, int, int]:
    if info["flag_get"][lane]:
        return _CLEARED
    return _LOST if info["death"][lane] else _CUT


def _edged(picture: Frame, colour: tuple[int, int, int]) -> Frame:
    """Half as bright, within an edge."""
    framed = np.full_like(picture, colour)
    inside = slice(_EDGE, -_EDGE)
    framed[inside, inside] = picture[inside, inside] // 2
    return framed
