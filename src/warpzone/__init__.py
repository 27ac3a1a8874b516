"""The fastest exact Super Mario Bros. environment for reinforcement learning.

Importing this package registers the Gymnasium ids, such as `warpzone/SuperMarioBros-1-1-v0`.
PyTorch is imported only when it is needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from warpzone.api import evaluate, load_policy, solve, train
from warpzone.envs.console import Console
from warpzone.envs.ids import register_all
from warpzone.envs.info_reward import InfoReward
from warpzone.envs.make_vec import make_vec
from warpzone.envs.options import parameter_help
from warpzone.envs.single import MarioEnv
from warpzone.envs.vector import MarioVectorEnv
from warpzone.registry import (
    register_algorithm,
    register_encoder,
    register_reward,
    register_wrapper,
)
from warpzone.system.openmp import wait_passively

if TYPE_CHECKING:
    from warpzone.algorithms.base import Algorithm, Batch, CollectedRollout, Loss, Targets

__version__ = "0.1.0"

__all__ = [
    "Algorithm",
    "Batch",
    "CollectedRollout",
    "Console",
    "InfoReward",
    "Loss",
    "MarioEnv",
    "MarioVectorEnv",
    "Targets",
    "__version__",
    "evaluate",
    "load_policy",
    "make_vec",
    "parameter_help",
    "register_algorithm",
    "register_encoder",
    "register_reward",
    "register_wrapper",
    "solve",
    "train",
]

_NEED_TORCH = ("Algorithm", "Batch", "CollectedRollout", "Loss", "Targets")

register_all()
wait_passively()  # None of the above imports PyTorch.


def __getattr__(name: str) -> Any:
    """Imports the classes that need PyTorch when they are first used."""
    if name in _NEED_TORCH:
        return getattr(import_module("warpzone.algorithms.base"), name)
    raise AttributeError(f"module 'warpzone' has no attribute {name!r}")
