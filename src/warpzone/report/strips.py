"""Animated strips: an episode as a small moving picture that fits into a page."""

from __future__ import annotations

import io
from pathlib import Path

from warpzone.evaluate.trained import load_policy
from warpzone.video.episode import Look, record_episode
from warpzone.video.policy_video import RecordedPolicy, first_clear
from warpzone.video.recorded_env import RecordedEnv
from warpzone.video.writer import Frame

_PICTURES_A_SECOND = 6  # Of the game's time.
_MILLISECONDS = 66  # Each is shown so long: about two and a half times the game's speed.
_FRAMES_AFTER_CLEAR = 120
_QUALITY = 40
_FULL_SIZE = (256, 240)
_TRIES = 4

STRIP_KIND = "image/webp"


def frame_strip(target: Path, level: str, *, seed: int = 0, shrink: int = 2) -> bytes:
    """Films an episode: the first of a few seeds that clears, or else the last tried.

    Args:
        target: A run, a checkpoint or a policy file.
        level: To play.
        seed: The first to try.
        shrink: How many times smaller than the console's picture.

    Returns:
        An animated WebP picture.
    """
    from PIL import Image

    trained = load_policy(target)
    options = trained.config.env
    env = RecordedEnv(
        level,
        sticky_prob=options.sticky_prob,
        noop_max=options.noop_max,
        **trained.env_options(),
    )
    pictures: list[Image.Image] = []
    size = _FULL_SIZE[0] // shrink, _FULL_SIZE[1] // shrink

    def keep(frame: Frame) -> None:
        pictures.append(Image.fromarray(frame).resize(size, Image.Resampling.BOX))

    chosen = first_clear(env, trained, seed=seed, greedy=False, tries=_TRIES)
    look = Look(fps=_PICTURES_A_SECOND, overlay=False)
    policy = RecordedPolicy(trained, chosen, greedy=False)
    record_episode(env, policy, keep, seed=chosen, look=look, after_clear=_FRAMES_AFTER_CLEAR)
    strip = io.BytesIO()
    pictures[0].save(
        strip,
        "WEBP",
        save_all=True,
        append_images=pictures[1:],
        duration=_MILLISECONDS,
        loop=0,
        quality=_QUALITY,
        method=4,
    )
    return strip.getvalue()
