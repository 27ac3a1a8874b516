"""Trains with rollouts whose policy is a fixed number of updates old, until a level is cleared.

One actor in this process plays every rollout with the weights of `--lag` updates ago, so the lag is
exact and the result depends on the seed alone. Prints the curve of clear rates in training, and the
steps until 90 % of 100 fresh episodes clear the level, confirmed by 400 more (sticky actions 0.25
per frame, up to 30 no-op frames).

    python benchmarks/cluster_lag.py --lag 4
    python benchmarks/cluster_lag.py --lag 16 --algo vtrace --seed 1 --json lag-16.json
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # As the `warpzone` command does.

import argparse
import json
import time
from collections import deque
from functools import partial
from pathlib import Path

import numpy as np
from time_to_clear import (
    CONFIRMATION_SEED,
    CONFIRMING_EPISODES,
    EPISODES,
    EVALUATE_EVERY,
    EVALUATION_MARGIN,
    FIRST_EVALUATION_SEED,
    clear_rate,
)

from warpzone.cluster.actor_pool import ActorCounts, MakeConfig
from warpzone.cluster.options import ClusterOptions
from warpzone.cluster.played_rollout import PlayedRollout, Policy
from warpzone.cluster.remote_player import RemotePlayer
from warpzone.cluster.rollout_actor import RolloutActor
from warpzone.config import TrainConfig, make_config
from warpzone.training.trainer import Trainer

GOAL = 0.9
CURVE_EVERY = 25_000  # Steps between two points of the curve.


class LaggedPool:
    """One actor in this process, which plays with the weights of some updates ago."""

    def __init__(self, options: ClusterOptions, make_config: MakeConfig, *, lag: int) -> None:
        """Creates the actor.

        Args:
            options: Not used: there is one actor.
            make_config: Returns its configuration.
            lag: Number of updates by which its weights are older than the learner's.
        """
        self.counts, self.knowledge, self.running = ActorCounts(), None, 1
        self._actor = RolloutActor(0, make_config(0), None)
        self._policies: deque[Policy] = deque(maxlen=lag + 1)
        self._steps = 0

    def publish(self, policy: Policy, steps: int) -> None:
        """Keeps a copy of the weights."""
        weights = {name: np.array(value) for name, value in policy.weights.items()}
        self._policies.append(Policy(policy.version, weights, policy.config))
        self._steps = steps

    def take(self) -> PlayedRollout:
        """Plays a rollout with the oldest weights."""
        return self._actor.collect(self._policies[0], self._steps, False)

    def close(self) -> None:
        """Does nothing: the actor ends with this process."""


def train(config: TrainConfig, lag: int) -> dict[str, object]:
    """Trains until the goal is confirmed or the steps are used up, and returns the result."""
    make_pool = partial(LaggedPool, lag=lag)
    make_player = partial(RemotePlayer, options=ClusterOptions(max_lag=lag), make_pool=make_pool)
    trainer = Trainer(config, make_player=make_player)
    trainer.begin()
    curve: list[tuple[int, float]] = []
    goal_steps = confirmed = None
    next_point = next_evaluation = evaluations = 0
    began = time.process_time()
    while trainer.steps < config.run.steps and goal_steps is None:
        row = trainer.update()
        if trainer.steps >= next_point:
            next_point += CURVE_EVERY
            curve.append((trainer.steps, trainer.success))
            print(
                f"lag {row['learn/policy_lag']:.0f}: {trainer.steps:,} steps, clear rate "
                f"{trainer.success:.0%}, furthest {trainer.statistics.best_progress} px, "
                f"entropy {row['learn/entropy']:.2f}",
                flush=True,
            )
        if trainer.success >= GOAL - EVALUATION_MARGIN and trainer.steps >= next_evaluation:
            next_evaluation, evaluations = trainer.steps + EVALUATE_EVERY, evaluations + 1
            seeds = 1000 * evaluations
            if clear_rate(trainer, config, FIRST_EVALUATION_SEED + seeds, EPISODES) < GOAL:
                continue
            rate = clear_rate(trainer, config, CONFIRMATION_SEED + seeds, CONFIRMING_EPISODES)
            if rate >= GOAL:
                goal_steps, confirmed = trainer.steps, rate
    trainer.close()
    return {
        "algo": config.learn.algo,
        "lag": lag,
        "seed": config.run.seed,
        "steps": trainer.steps,
        "goal_steps": goal_steps,
        "confirmed": confirmed,
        "cpu_seconds": round(time.process_time() - began, 1),
        "curve": curve,
    }


def main() -> None:
    """Trains and prints the result."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--lag", type=int, default=4)
    parser.add_argument("--algo", default="appo")
    parser.add_argument("--level", default="1-1")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--json", type=Path, help="file for the result")
    given = parser.parse_args()
    config = make_config(
        "cpu-quick",
        level=given.level,
        algo=given.algo,
        seed=given.seed,
        steps=given.steps,
        torch_threads=1,
    )
    result = train(config, given.lag)
    print(json.dumps(result))
    if given.json is not None:
        given.json.write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
