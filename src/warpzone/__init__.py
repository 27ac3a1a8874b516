"""The fastest exact Super Mario Bros. environment for reinforcement learning.

Importing it registers the Gymnasium ids, such as `warpzone/SuperMarioBros-1-1-v0`.
"""

from __future__ import annotations

from warpzone.envs.console import Console
from warpzone.envs.ids import register_all
from warpzone.envs.make_vec import make_vec
from warpzone.envs.options import parameter_help
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
