"""The fastest exact Super Mario Bros. environment for reinforcement learning.

Importing it registers the Gymnasium ids, such as `warpzone/SuperMarioBros-1-1-v0`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warpzone.envs.console import Console
from warpzone.envs.ids import register_all
from warpzone.envs.setup import parameter_help
from warpzone.envs.single import MarioEnv
from warpzone.envs.vector import MarioVectorEnv

__version__ = "0.1.0"

__all__ = [
    "Console",
    "MarioEnv",
    "MarioVectorEnv",
    "__version__",
    "make_vec",
    "parameter_help",
]

register_all()


def make_vec(
    level: str | Sequence[str] = "1-1",
    num_envs: int = 1,
    num_threads: int | None = None,
    **options: Any,
) -> MarioVectorEnv:
    """Makes a vector environment: `make_vec("1-1", num_envs=16, num_threads=2)`.

    Args:
        level: A level ('1-1'), several ('1-1,1-2', '1-1..1-4', a list), 'all', or 'game'.
        num_envs: Number of games.
        num_threads: Threads to share them; by default one a processor core.
        options: `rom`, `game`, `weights`, `render_mode`, and every parameter that
            `warpzone.parameter_help()` lists.
    """
    return MarioVectorEnv(level, num_envs=num_envs, num_threads=num_threads, **options)
