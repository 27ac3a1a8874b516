"""Which action leads forward: each is tried for a while."""

from __future__ import annotations

from typing import Any

import numpy as np

from warpzone.envs.actions import resolve_actions
from warpzone.envs.button_script import steps_of
from warpzone.envs.vector import MarioVectorEnv


def probe_forward(frames: int, level: str, actions: str, frame_skip: int, **options: Any) -> int:
    """Holds every action for a while at the start of a level.

    Args:
        frames: How long.
        level: Where.
        actions: The action set.
        frame_skip: Frames of a step.
        options: Further options of the environment.

    Returns:
        The index of the action that made the most progress; the first among equals.
    """
    count = len(resolve_actions(actions))
    env = MarioVectorEnv(
        level,
        num_envs=count,
        num_threads=1,
        obs="tiles",
        actions=actions,
        frame_skip=frame_skip,
        **options,
    )
    try:
        env.reset(seed=0)
        best = np.zeros(count, np.int64)
        for _ in range(steps_of(frames, frame_skip)):
            info = env.step(np.arange(count))[4]
            best = np.maximum(best, info["progress"])
    finally:
        env.close()
    return int(best.argmax())
