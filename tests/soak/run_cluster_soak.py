"""Trains with local actors, kills one every minute, and checks memory, counts and files.

    python tests/soak/run_cluster_soak.py --minutes 60

Prints a line per minute and fails if the memory of the learner or of Ray's own processes grows, if
the object store grows, if the counts of steps are not exact, or if a file of the run cannot be
read.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import psutil

from warpzone.cluster.options import ClusterOptions
from warpzone.cluster.ray_session import connected_ray
from warpzone.config import make_config
from warpzone.runs import checkpoint
from warpzone.runs.checkpoint_store import list_checkpoints
from warpzone.training import session
from warpzone.training.trainer import Trainer

_GROWTH = 1.25  # Of memory, after the first fifth of the time.
_ACTORS, _IN_FLIGHT = 2, 2  # At most two rollouts are in flight per actor.
_LEARNER, _RAY = ("python",), ("gcs_server", "raylet")


class Killer:
    """Kills an actor every minute and records memory."""

    def __init__(self, minutes: float) -> None:
        self._began = self._last = time.monotonic()
        self._seconds = 60.0 * minutes
        self.kills = 0
        self.memory: list[int] = []
        self.ray_memory: list[int] = []
        self.store: list[float] = []

    def __call__(self, row: Mapping[str, float]) -> bool:
        now = time.monotonic()
        if now - self._last >= 60.0:
            self._last = now
            self._kill()
            self.memory.append(_own_bytes(_LEARNER))
            self.ray_memory.append(_own_bytes(_RAY))
            self.store.append(_store_bytes())
            print(
                f"{(now - self._began) / 60:.0f} min: {row['run/steps']:,} steps, "
                f"{self.kills} kills, {row['cluster/losses']:.0f} losses, "
                f"learner {self.memory[-1] >> 20} MiB, Ray {self.ray_memory[-1] >> 20} MiB, object "
                f"store {self.store[-1] / 2**20:.0f} MiB",
                flush=True,
            )
        return now - self._began < self._seconds

    def _kill(self) -> None:
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):  # It has just ended by itself.
                if "RemoteActor" in " ".join(process.cmdline()):
                    process.kill()
                    self.kills += 1
                    return


def _own_bytes(names: tuple[str, ...]) -> int:
    """Memory of processes with these names, without the object store and mapped files.

    Pages of files, such as Ray's own program, are left out: whether they count as shared depends on
    what else runs on the machine.
    """
    total = 0
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):  # It has just ended.
            if process.name().startswith(names):
                memory = process.memory_info()
                total += memory.rss - memory.shared
    return total


def _store_bytes() -> float:
    import ray

    total = ray.cluster_resources().get("object_store_memory", 0.0)
    return float(total - ray.available_resources().get("object_store_memory", 0.0))


def _store_limit(trainer: Trainer) -> float:
    """Bytes of all rollouts in flight, the one that is learned from, and three sets of weights."""
    weights = sum(tensor.nbytes for tensor in trainer.model.state_dict().values())
    rollouts = _IN_FLIGHT * _ACTORS + 1
    return 1.05 * (rollouts * trainer.storage.nbytes + 3 * weights)


def _grows(values: list[float] | list[int]) -> bool:
    fifth = max(1, len(values) // 5)
    return len(values) > 10 and max(values[-fifth:]) > _GROWTH * max(values[fifth : 2 * fifth])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    minutes = parser.parse_args().minutes
    killer = Killer(minutes)
    with tempfile.TemporaryDirectory() as folder, connected_ray(None):
        # Not before Ray's variables are set.
        from warpzone.cluster.remote_player import RemotePlayer

        config = make_config(
            "cpu-quick",
            algo="appo",
            runs=folder,
            steps=10**10,
            stop_at_clear_rate=0.0,
            checkpoint_minutes=1.0,
            log_every=1,
        )
        trainers: list[Trainer] = []

        def make(*arguments: Any, **options: Any) -> Trainer:
            player = partial(RemotePlayer, options=ClusterOptions(actors=_ACTORS))
            trainers.append(Trainer(*arguments, make_player=player, **options))
            return trainers[0]

        run, _ = session.start(config, "quiet", on_update=killer, make_trainer=make)
        rows = [json.loads(line) for line in run.metrics.read_text().splitlines()]
        size = config.env.num_envs * config.learn.rollout_steps
        updates = [row["run/updates"] for row in rows]
        checkpoints = list_checkpoints(run.path)
        for path in checkpoints:
            checkpoint.load(path)
        for path in run.path.glob("*.jsonl"):
            for line in path.read_text().splitlines():
                json.loads(line)
        problems = {
            "steps are not exact": any(r["run/steps"] != r["run/updates"] * size for r in rows),
            "updates are missing": updates != list(range(1, len(rows) + 1)),
            # A machine that is busy with other things may take longer than a minute to replace one.
            "too few actors were killed": killer.kills < minutes / 2,
            "losses were not counted": rows[-1]["cluster/losses"] < killer.kills - 1,
            "the learner's memory grows": _grows(killer.memory),
            "Ray's memory grows": _grows(killer.ray_memory),
            "the object store grows": max(killer.store, default=0.0) > _store_limit(trainers[0]),
            "there is no checkpoint": not checkpoints,
        }
    failed = [problem for problem, holds in problems.items() if holds]
    print(
        f"{rows[-1]['run/steps']:,} steps in {len(rows):,} updates, {killer.kills} actors killed, "
        f"{rows[-1]['cluster/losses']} lost with {rows[-1]['cluster/lost_rollouts']} rollouts"
    )
    print("; ".join(failed) or "no growth, exact counts, all files readable")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
