"""Compares local Ray actors with the plain trainer on the same cores, from tiles.

Both train 1-1 with APPO and the same options. Rounds alternate, so slow phases of the machine
meet both. Prints steps per second, and CPU seconds per 1,000 steps of all processes of each, which
other load on the machine changes less.

    python benchmarks/cluster_efficiency.py --seconds 20 --rounds 3
    python benchmarks/cluster_efficiency.py --actors 1 --profile learner.prof
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # As the `warpzone` command does.

import argparse
import cProfile
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

from warpzone.bench.machine import machine_info
from warpzone.cluster.options import ClusterOptions
from warpzone.cluster.ray_session import connected_ray
from warpzone.config import TrainConfig, make_config
from warpzone.training.trainer import Trainer

WARM_UP_UPDATES = 10


@dataclass(frozen=True)
class Speed:
    """Speed of one round."""

    steps_per_second: float
    cpu_seconds_per_1000: float
    learner_idle_share: float
    lag: float


def measure(trainer: Trainer, seconds: float) -> Speed:
    """Trains for some time."""
    rows = []
    steps, cpu, began = trainer.steps, cpu_seconds(), time.perf_counter()
    while time.perf_counter() - began < seconds:
        rows.append(trainer.update())
    elapsed, done = time.perf_counter() - began, trainer.steps - steps
    idle = sum(float(row.get("speed/learner_idle_seconds", 0.0)) for row in rows)
    lag = statistics.mean(float(row["learn/policy_lag"]) for row in rows)
    return Speed(done / elapsed, 1000 * (cpu_seconds() - cpu) / done, idle / elapsed, lag)


def cpu_seconds() -> float:
    """CPU time of this process and all of its descendants."""
    total = 0.0
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        times = process.cpu_times()
        total += times.user + times.system
    return total


@contextmanager
def training(config: TrainConfig, actors: int) -> Iterator[Trainer]:
    """A trainer after its first updates; without actors, the plain one."""
    make_player = None
    if actors:
        from warpzone.cluster.remote_player import RemotePlayer

        make_player = partial(RemotePlayer, options=ClusterOptions(actors=actors))
    trainer = Trainer(config, make_player=make_player) if make_player else Trainer(config)
    try:
        trainer.begin()
        for _ in range(WARM_UP_UPDATES):
            trainer.update()
        yield trainer
    finally:
        trainer.close()


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", type=Path, help="file for a profile of the learner")
    given = parser.parse_args()
    # Training does not end, and its videos and checkpoints are no part of either trainer.
    config = make_config("cpu-quick", algo="appo", steps=10**12)
    speeds: dict[str, list[Speed]] = {"plain": [], "actors": []}
    with connected_ray(None):
        for number in range(given.rounds):
            for name, actors in (("plain", 0), ("actors", given.actors)):
                profile = cProfile.Profile() if given.profile and actors else None
                with training(config, actors) as trainer, profile or nullcontext():
                    speed = measure(trainer, given.seconds)
                if profile:
                    profile.dump_stats(given.profile)
                speeds[name].append(speed)
                print(
                    f"round {number + 1}, {name}: {speed.steps_per_second:,.0f} steps/s, "
                    f"{speed.cpu_seconds_per_1000:.4f} CPU s per 1,000 steps, learner idle "
                    f"{speed.learner_idle_share:.0%}, lag {speed.lag:.1f}",
                    flush=True,
                )
    plain, actors_ = (
        statistics.median(speed.steps_per_second for speed in speeds[name]) for name in speeds
    )
    plain_cpu, actors_cpu = (
        statistics.median(speed.cpu_seconds_per_1000 for speed in speeds[name]) for name in speeds
    )
    print(f"{machine_info()}")
    print(
        f"{given.actors} actors against the plain trainer: {actors_ / plain:.2f}x steps per "
        f"second, {plain_cpu / actors_cpu:.2f}x steps per CPU second (medians of {given.rounds})"
    )


if __name__ == "__main__":
    main()
