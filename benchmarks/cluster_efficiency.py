"""Compares local Ray actors with the plain trainer on the same cores, from tiles.

All train 1-1 with APPO and the same options. Rounds alternate, so slow phases of the machine
meet all. Prints steps per second, and CPU seconds per 1,000 steps of the learner and of all other
processes, which other load on the machine changes less.

    python benchmarks/cluster_efficiency.py --seconds 20 --rounds 3
    python benchmarks/cluster_efficiency.py --actors 2 --rounds 1 --profile learner.prof
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
from warpzone.training.player import Player
from warpzone.training.trainer import Trainer

WARM_UP_UPDATES = 10


@dataclass(frozen=True)
class Speed:
    """Speed of one round.

    Attributes:
        steps_per_second: Environment steps per second.
        own_cpu: CPU seconds of this process, per 1,000 steps.
        other_cpu: CPU seconds of all other processes, per 1,000 steps.
        idle: Fraction of the time that the learner waited for rollouts.
        lag: Mean lag.
    """

    steps_per_second: float
    own_cpu: float
    other_cpu: float
    idle: float
    lag: float

    @property
    def cpu(self) -> float:
        """CPU seconds of all processes, per 1,000 steps."""
        return self.own_cpu + self.other_cpu


def measure(trainer: Trainer, seconds: float) -> Speed:
    """Trains for some time."""
    rows = []
    steps, own, other, began = trainer.steps, *cpu_seconds(), time.perf_counter()
    while time.perf_counter() - began < seconds:
        rows.append(trainer.update())
    elapsed, thousands = time.perf_counter() - began, (trainer.steps - steps) / 1000
    own_after, other_after = cpu_seconds()
    return Speed(
        1000 * thousands / elapsed,
        (own_after - own) / thousands,
        (other_after - other) / thousands,
        sum(float(row["speed/learner_idle_seconds"]) for row in rows) / elapsed,
        statistics.mean(float(row["learn/policy_lag"]) for row in rows),
    )


def cpu_seconds() -> tuple[float, float]:
    """CPU time of this process, and of all of its descendants."""

    def used(process: psutil.Process) -> float:
        times = process.cpu_times()
        return float(times.user + times.system)

    this = psutil.Process()
    return used(this), sum(used(process) for process in this.children(recursive=True))


@contextmanager
def training(config: TrainConfig, actors: int) -> Iterator[Trainer]:
    """A trainer after its first updates; without actors, the plain one."""
    make_player = Player
    if actors:
        from warpzone.cluster.remote_player import RemotePlayer

        make_player = partial(RemotePlayer, options=ClusterOptions(actors=actors))
    trainer = Trainer(config, make_player=make_player)
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
    parser.add_argument("--actors", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", type=Path, help="file for a profile of the learner")
    given = parser.parse_args()
    config = make_config("cpu-quick", algo="appo", steps=10**12)
    speeds: dict[int, list[Speed]] = {actors: [] for actors in (0, *given.actors)}
    with connected_ray(None, max(given.actors)):
        for number in range(given.rounds):
            for actors, results in speeds.items():
                profile = cProfile.Profile() if given.profile and actors else None
                with training(config, actors) as trainer, profile or nullcontext():
                    results.append(measure(trainer, given.seconds))
                if profile:
                    profile.dump_stats(given.profile)
                speed = results[-1]
                print(
                    f"round {number + 1}, {title(actors)}: {speed.steps_per_second:,.0f} steps/s, "
                    f"{speed.own_cpu:.4f} + {speed.other_cpu:.4f} CPU s per 1,000 steps, learner "
                    f"idle {speed.idle:.0%}, lag {speed.lag:.1f}",
                    flush=True,
                )
    print(machine_info())
    plain = speeds.pop(0)
    for actors, results in speeds.items():
        speed = median(results, "steps_per_second") / median(plain, "steps_per_second")
        cost = median(plain, "cpu") / median(results, "cpu")
        print(
            f"{title(actors)}: {speed:.2f}x steps per second, {cost:.2f}x steps per CPU second of "
            f"the plain trainer (medians of {given.rounds})"
        )


def title(actors: int) -> str:
    """Name of a way to train."""
    return "plain" if not actors else "1 actor" if actors == 1 else f"{actors} actors"


def median(results: list[Speed], name: str) -> float:
    """Median of one quantity over the rounds."""
    return statistics.median(getattr(speed, name) for speed in results)


if __name__ == "__main__":
    main()
