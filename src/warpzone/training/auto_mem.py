"""Gradual reduction of a configuration when memory runs out at the start of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import TypeVar

from warpzone.config import TrainConfig
from warpzone.errors import RunError
from warpzone.training.failures import is_out_of_memory
from warpzone.training.memory_need import check_memory
from warpzone.training.trainer import Trainer

Result = TypeVar("Result")

_MIN_STEPS, _MIN_ENVS, _MIN_MINIBATCH = 16, 8, 64


def fit_memory(
    config: TrainConfig,
    attempt: Callable[[TrainConfig], Result],
    is_memory: Callable[[BaseException], bool],
    report: Callable[[str], None],
) -> tuple[TrainConfig, Result]:
    """Tries a configuration, then smaller ones until one fits into memory.

    Args:
        config: Requested configuration.
        attempt: Uses as much memory as the run will.
        is_memory: Whether an error means that memory ran out; other errors are raised.
        report: Called with a line for each reduction.

    Returns:
        The configuration that fits, and the result of the attempt.

    Raises:
        RunError: Even the smallest configuration does not fit.
    """
    steps = reductions(config)
    while True:
        try:
            return config, attempt(config)
        except Exception as error:
            if not is_memory(error):
                raise
            reason = error
        config, change = next(steps, (config, ""))
        if not change:
            raise RunError(
                "memory runs out even with the smallest rollout; use a smaller model, --obs tiles, "
                "or a machine with more memory"
            ) from reason
        report(f"memory ran out; retrying with {change}")


def fit_config(config: TrainConfig, report: Callable[[str], None] = print) -> TrainConfig:
    """Returns the configuration, or a smaller one, whose first update fits into memory."""

    def attempt(smaller: TrainConfig) -> None:
        check_memory(smaller)
        with closing(Trainer(smaller)) as trainer:
            trainer.begin()
            trainer.update()

    return fit_memory(config, attempt, is_out_of_memory, report)[0]


def reductions(config: TrainConfig) -> Iterator[tuple[TrainConfig, str]]:
    """Yields smaller and smaller configurations, each with a description of the change.

    Reductions that only cost speed come first: smaller minibatches with gradient accumulation. Then
    come reductions that change what is learned: a smaller replay buffer, shorter rollouts, fewer
    environments.
    """
    while True:
        env, learn, replay = config.env, config.learn, config.replay
        if learn.minibatch_size // 2 >= _MIN_MINIBATCH and learn.grad_accumulation < 4:
            minibatch_size, grad_accumulation = (
                learn.minibatch_size // 2,
                learn.grad_accumulation * 2,
            )
            learn = replace(
                learn, minibatch_size=minibatch_size, grad_accumulation=grad_accumulation
            )
            change = f"--minibatch-size {minibatch_size} --grad-accumulation {grad_accumulation}"
        elif replay.capacity // 2 >= env.num_envs * learn.rollout_steps:
            replay = replace(replay, capacity=replay.capacity // 2)
            change = f"--replay-capacity {replay.capacity}"
        elif learn.rollout_steps // 2 >= _MIN_STEPS:
            learn = replace(learn, rollout_steps=learn.rollout_steps // 2)
            change = f"--rollout-steps {learn.rollout_steps}"
        elif env.num_envs // 2 >= _MIN_ENVS:
            env = replace(env, num_envs=env.num_envs // 2)
            change = f"--num-envs {env.num_envs}"
        else:
            return
        minibatch_size = min(learn.minibatch_size, env.num_envs * learn.rollout_steps)
        learn = replace(learn, minibatch_size=minibatch_size)
        config = replace(config, env=env, learn=learn, replay=replay)
        yield config, change
