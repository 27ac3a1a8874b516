"""Trains with local actors, kills one every minute, and checks memory, counts and files.

    python tests/soak/run_cluster_soak.py --minutes 60

Prints a line per minute and fails if the learner's memory or the object store grows, if the counts
of steps are not exact, or if a file of the run cannot be read.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import partial

import psutil
import ray

from warpzone.cluster.options import ClusterOptions
from warpzone.cluster.ray_session import connected_ray
from warpzone.cluster.remote_player import RemotePlayer
from warpzone.config import make_config
from warpzone.runs import checkpoint
from warpzone.runs.checkpoint_store import find_latest
from warpzone.training import session
from warpzone.training.trainer import Trainer

_GROWTH = 1.25  # Of memory, after the first fifth of the time.


class Killer:
    """Kills an actor every minute and records memory."""

    def __init__(self, minutes: float) -> None:
        self._began = self._last = time.monotonic()
        self._seconds = 60.0 * minutes
        self.kills = 0
        self.memory: list[int] = []
        self.store: list[float] = []

    def __call__(self, row: Mapping[str, float]) -> bool:
        now = time.monotonic()
        if now - self._last >= 60.0:
            self._last = now
            self._kill()
            self.memory.append(psutil.Process().memory_info().rss)
            self.store.append(_store_bytes())
            print(
                f"{(now - self._began) / 60:.0f} min: {row['run/steps']:,} steps, "
                f"{self.kills} kills, {row['cluster/losses']:.0f} losses, "
                f"{self.memory[-1] >> 20} MiB, object store {self.store[-1] / 2**20:.0f} MiB",
                flush=True,
            )
        return now - self._began < self._seconds

    def _kill(self) -> None:
        for process in psutil.Process().children(recursive=True):
            if "RolloutActor" in " ".join(process.cmdline()):
                os.kill(process.pid, signal.SIGKILL)
                self.kills += 1
                return


def _store_bytes() -> float:
    total = ray.cluster_resources().get("object_store_memory", 0.0)
    return float(total - ray.available_resources().get("object_store_memory", 0.0))


def _grows(values: list[float] | list[int]) -> bool:
    fifth = max(1, len(values) // 5)
    return len(values) > 10 and max(values[-fifth:]) > _GROWTH * max(values[fifth : 2 * fifth])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    minutes = parser.parse_args().minutes
    killer = Killer(minutes)
    with tempfile.TemporaryDirectory() as folder, connected_ray(None):
        config = make_config("cpu-quick", algo="vtrace", runs=folder, steps=10**10, log_every=10)
        make = partial(Trainer, make_player=partial(RemotePlayer, options=ClusterOptions(actors=2)))
        run, _ = session.start(config, "quiet", on_update=killer, make_trainer=make)
        rows = [json.loads(line) for line in run.metrics.read_text().splitlines()]
        size = config.env.num_envs * config.learn.rollout_steps
        latest = find_latest(run.path)
        problems = {
            "steps are not exact": any(r["run/steps"] != r["run/updates"] * size for r in rows),
            "no actor was killed": killer.kills < minutes - 1,
            "memory grows": _grows(killer.memory),
            "the object store grows": _grows(killer.store),
            "no checkpoint": latest is None or not checkpoint.load(latest).state,
        }
        for line in run.episodes.read_text().splitlines():
            json.loads(line)
    failed = [problem for problem, holds in problems.items() if holds]
    print("; ".join(failed) or "no growth, exact counts, all files readable")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
