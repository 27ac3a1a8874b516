"""Estimates the memory of a run from shapes, before anything is allocated."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import psutil
import torch

from warpzone.config import TrainConfig
from warpzone.config.names import is_built_in
from warpzone.envs.setup import prepare, spaces_of
from warpzone.errors import ConfigError
from warpzone.models.build import make_model
from warpzone.runs.levels import trained_levels

_MIB = 2**20
# Measured bytes of a native environment with save state and frame stack, and of a worker process.
_ENV_BYTES, _WORKER_BYTES = 200 * 1024, 60 * _MIB
# Bytes of a step (action, log-probability, value, reward, ends, progress), and of a transition in
# replay (return, priority).
_STEP_BYTES, _TRANSITION_BYTES = 48, 24
# Maximum size of a list of active inputs, relative to its observation.
_LIST_SIZE = 2
# List of active inputs and targets of a state that is kept for distillation.
_DISTILLED_BYTES = 700
# Weights, gradients, two moments of Adam, and averaged weights.
_COPIES = 5


class MemoryNeedError(ConfigError, MemoryError):
    """A run needs more memory than available; `--auto-mem` treats it as out of memory."""


@dataclass(frozen=True)
class MemoryNeed:
    """Memory of the parts of a run, in bytes."""

    rollout: int
    replay: int
    network: int
    environments: int

    @property
    def total(self) -> int:
        """Total memory in bytes."""
        return self.rollout + self.replay + self.network + self.environments

    def __str__(self) -> str:
        """Returns a one-line description."""
        return (
            f"estimated memory: {_shown(self.total)} ({_shown(self.environments)} environments, "
            f"{_shown(self.rollout)} rollout, {_shown(self.replay)} replay, "
            f"{_shown(self.network)} network and optimizer)"
        )


def memory_need(config: TrainConfig) -> MemoryNeed:
    """Estimates the memory of a run without allocating it."""
    env, learn = config.env, config.learn
    setup = prepare(trained_levels(env), **env.policy_env_options())
    space, actions = spaces_of(setup)
    weights = _bytes_of_network(config, space, int(actions.n))
    recurrent = 0 if config.model.memory == "none" else 8 * config.model.memory_size
    step = _bytes_of_stored(config, space) + recurrent + _STEP_BYTES
    stacks = 2 if config.run.overlap else 1
    frame = _bytes_of(space) // env.stacked_frames
    worker = _WORKER_BYTES if env.vector == "async" else _ENV_BYTES
    return MemoryNeed(
        rollout=stacks * (learn.rollout_steps + 1) * env.num_envs * step,
        replay=config.replay.capacity * (frame + _TRANSITION_BYTES)
        + _bytes_of_distillation(config),
        network=(_COPIES + stacks - 1) * weights,
        environments=env.num_envs * worker,
    )


def _bytes_of_distillation(config: TrainConfig) -> int:
    return config.distill.capacity * _DISTILLED_BYTES if config.distill.teachers else 0


def check_memory(config: TrainConfig) -> MemoryNeed:
    """Checks that a run fits into the free memory.

    Raises:
        MemoryNeedError: It does not fit; the message says how much is needed and available.
    """
    need, free = memory_need(config), available_memory()
    if need.total > free:
        raise MemoryNeedError(
            f"{need}, but only {_shown(free)} is free; lower --num-envs, --rollout-steps, "
            "--replay-capacity, --distill-capacity or --hidden"
        )
    return need


def available_memory() -> int:
    """Returns the bytes available to this process, on the machine and in its control group."""
    free = psutil.virtual_memory().available
    group = Path("/sys/fs/cgroup")
    try:
        limit = (group / "memory.max").read_text().strip()
        used = int((group / "memory.current").read_text())
    except (OSError, ValueError):
        return free
    return min(free, int(limit) - used) if limit.isdecimal() else free


def _bytes_of_network(config: TrainConfig, space: Any, actions: int) -> int:
    """Returns the bytes of the weights; 0 for a plug-in, which is not built just to count."""
    if not is_built_in("encoder", config.model.encoder):
        return 0
    with torch.device("meta"):
        model = make_model(config.model, space, actions)
    return sum(parameter.nbytes for parameter in model.parameters())


def _bytes_of_stored(config: TrainConfig, space: Any) -> int:
    """Returns the bytes that a rollout stores per observation: dense, a list of inputs, or both.

    Whether native code acts is decided later; lists are counted if it may.
    """
    plain = _bytes_of(space)
    if config.env.obs != "tiles" or config.run.acting == "torch":
        return plain
    return _LIST_SIZE * plain + (plain if config.replay.capacity else 0)


def _bytes_of(space: Any) -> int:
    """Returns the bytes of one observation."""
    boxes = space.spaces.values() if hasattr(space, "spaces") else (space,)
    return sum(prod(box.shape) * box.dtype.itemsize for box in boxes)


def _shown(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB" if size >= 2**30 else f"{size / _MIB:,.0f} MiB"
