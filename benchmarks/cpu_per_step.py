"""Prints the CPU time per environment step of training and of stepping, with one thread.

CPU time depends less on other work on the machine than throughput does. To compare two versions,
run the script in a checkout of each, in turn:

    python benchmarks/cpu_per_step.py
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # As the `warpzone` command does.

import time
from collections.abc import Callable

import numpy as np

import warpzone
from warpzone.config import make_config
from warpzone.training.trainer import Trainer

NUM_ENVS, STEPS, TURNS = 16, 60, 6


def best_microseconds(work: Callable[[], object], steps: int, turns: int) -> float:
    """Returns the CPU time of the fastest turn, in microseconds per step."""
    times = []
    for _ in range(turns):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times) / steps * 1e6


def training(obs: str) -> float:
    """Measures updates of the CPU preset."""
    trainer = Trainer(make_config("cpu", obs=obs, seed=3, torch_threads=1, num_threads=1))
    trainer.begin()
    trainer.update()
    steps = trainer.storage.steps * trainer.storage.num_envs
    result = best_microseconds(trainer.update, steps, TURNS)
    trainer.close()
    return result


def stepping(obs: str) -> float:
    """Measures environments with random actions."""
    env = warpzone.make_vec("1-1", num_envs=NUM_ENVS, num_threads=1, obs=obs)
    env.reset(seed=0)
    actions = np.random.default_rng(0).integers(0, 7, (STEPS, NUM_ENVS))

    def play() -> None:
        for row in actions:
            env.step(row)

    result = best_microseconds(play, STEPS * NUM_ENVS, TURNS)
    env.close()
    return result


def main() -> None:
    """Prints a table."""
    print("| what | CPU microseconds per step |\n|---|---|")
    for obs in ("tiles", "pixels"):
        print(f"| training, {obs} | {training(obs):.0f} |", flush=True)
        print(f"| {NUM_ENVS} environments, {obs} | {stepping(obs):.0f} |", flush=True)


if __name__ == "__main__":
    main()
