"""An episode as a small animated image that can be embedded in a page."""

from __future__ import annotations

import io
from pathlib import Path

from warpzone.evaluation.trained import load_policy
from warpzone.video.episode import VideoOptions, record_episode
from warpzone.video.policy_video import RecordedPolicy, choose_policy_episode, make_recorded_env
from warpzone.video.writer import Frame

_FPS = 6  # Frames per second of game time.
_FRAME_MILLISECONDS = 66  # Plays at about two and a half times the game's speed.
_FRAMES_AFTER_CLEAR = 120
_QUALITY = 40
_FULL_SIZE = (256, 240)
_MAX_SEEDS = 4

MIME_TYPE = "image/webp"


def animate_episode(target: Path, level: str, *, seed: int = 0, shrink: int = 2) -> bytes:
    """Animates the first episode that clears the level, or else the one that gets furthest.

    Args:
        target: A run, a checkpoint or a policy file.
        level: Level to play.
        seed: First seed to try.
        shrink: Integer factor by which frames are reduced.

    Returns:
        An animated WebP image.
    """
    from PIL import Image

    trained = load_policy(target)
    env = make_recorded_env(trained, level)
    images: list[Image.Image] = []
    size = _FULL_SIZE[0] // shrink, _FULL_SIZE[1] // shrink

    def write(frame: Frame) -> None:
        images.append(Image.fromarray(frame).resize(size, Image.Resampling.BOX))

    seeds = range(seed, seed + _MAX_SEEDS)
    seed = choose_policy_episode(env, trained, seeds=seeds, greedy=False).seed
    options = VideoOptions(fps=_FPS, overlay=False)
    policy = RecordedPolicy(trained, seed, greedy=False)
    record_episode(env, policy, write, seed=seed, options=options, after_clear=_FRAMES_AFTER_CLEAR)
    animation = io.BytesIO()
    images[0].save(
        animation,
        "WEBP",
        save_all=True,
        append_images=images[1:],
        duration=_FRAME_MILLISECONDS,
        loop=0,
        quality=_QUALITY,
        method=4,
    )
    return animation.getvalue()
