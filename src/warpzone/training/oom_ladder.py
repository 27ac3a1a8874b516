"""The way down when memory runs out at the start: smaller step by step, each one said."""

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

_FEWEST_STEPS, _FEWEST_GAMES, _SMALLEST_MINIBATCH = 16, 8, 64


def fit_memory(
    config: TrainConfig,
    attempt: Callable[[TrainConfig], Result],
    is_memory: Callable[[BaseException], bool],
    say: Callable[[str], None],
) -> tuple[TrainConfig, Result]:
    """Tries a configuration, and smaller ones as long as memory runs out.

    Args:
        config: What is asked for.
        attempt: Uses as much memory as a run will.
        is_memory: Tells that failure from others, which are raised at once.
        say: Gets a line for each step down.

    Returns:
        The configuration that fits, and what the attempt returned.

    Raises:
        RunError: When even the smallest does not fit.
    """
    steps = ladder(config)
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
                "memory runs out even with the smallest rollout; give a smaller model, or "
                "--obs tiles, or a machine with more memory"
            ) from reason
        say(f"memory ran out; tries again with {change}")


def fitted(config: TrainConfig, say: Callable[[str], None] = print) -> TrainConfig:
    """The configuration, or a smaller one, whose first update fits into memory."""

    def attempt(smaller: TrainConfig) -> None:
        check_memory(smaller)
        with closing(Trainer(smaller)) as trainer:
            trainer.begin()
            trainer.update()

    return fit_memory(config, attempt, is_out_of_memory, say)[0]


def ladder(config: TrainConfig) -> Iterator[tuple[TrainConfig, str]]:
    """Smaller and smaller configurations, each with what changed.

    What costs nothing but speed goes first: minibatches, made up for by accumulating. Then what
    changes how a run learns: shorter rollouts, fewer games, a smaller replay.
    """
    while True:
        env, learn, replay = config.env, config.learn, config.replay
        if learn.minibatch_size // 2 >= _SMALLEST_MINIBATCH and learn.grad_accumulation < 4:
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
        elif learn.rollout_steps // 2 >= _FEWEST_STEPS:
            learn = replace(learn, rollout_steps=learn.rollout_steps // 2)
            change = f"--rollout-steps {learn.rollout_steps}"
        elif env.num_envs // 2 >= _FEWEST_GAMES:
            env = replace(env, num_envs=env.num_envs // 2)
            change = f"--num-envs {env.num_envs}"
        else:
            return
        minibatch_size = min(learn.minibatch_size, env.num_envs * learn.rollout_steps)
        learn = replace(learn, minibatch_size=minibatch_size)
        config = replace(config, env=env, learn=learn, replay=replay)
        yield config, change
