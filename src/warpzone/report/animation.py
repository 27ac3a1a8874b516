"""An episode as a small video that can be embedded in a page."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from warpzone.evaluation.trained import load_policy
from warpzone.video.episode import VideoOptions, record_episode
from warpzone.video.policy_video import RecordedPolicy, choose_policy_episode, make_recorded_env
from warpzone.video.writer import Frame, VideoWriter

_FPS = 6  # Frames per second of game time.
_PLAYED_FPS = 15  # Plays at two and a half times the game's speed.
_FRAMES_AFTER_CLEAR = 120
_MAX_SEEDS = 4


def animate_episode(target: Path, level: str, *, seed: int = 0, shrink: int = 2) -> bytes:
    """Records the first episode that clears the level, or else the one that gets furthest.

    Args:
        target: A run, a checkpoint or a policy file.
        level: Level to play.
        seed: First seed to try.
        shrink: Integer factor by which frames are reduced.

    Returns:
        An MP4 file.
    """
    trained = load_policy(target)
    env = make_recorded_env(trained, level)
    seeds = range(seed, seed + _MAX_SEEDS)
    seed = choose_policy_episode(env, trained, seeds=seeds, greedy=False).seed
    options = VideoOptions(fps=_FPS, overlay=False)
    policy = RecordedPolicy(trained, seed, greedy=False)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "episode.mp4"
        with VideoWriter(path, fps=_PLAYED_FPS) as video:
            record_episode(
                env,
                policy,
                lambda frame: video.write(_shrunk(frame, shrink)),
                seed=seed,
                options=options,
                after_clear=_FRAMES_AFTER_CLEAR,
            )
        return path.read_bytes()


def _shrunk(frame: Frame, factor: int) -> Frame:
    """Averages squares of pixels."""
    height, width = frame.shape[0] // factor, frame.shape[1] // factor
    squares = frame[: height * factor, : width * factor].reshape(
        height, factor, width, factor, frame.shape[2]
    )
    small: Frame = np.rint(squares.mean(axis=(1, 3))).astype(np.uint8)
    return small
