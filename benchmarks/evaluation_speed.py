"""Measures how much faster evaluation is when native code chooses the actions.

Plays the same episodes with PyTorch alone and with the native copy of the network, in turn, and
prints the best time of each. Both must give the same episodes.

    python benchmarks/evaluation_speed.py policies/all.policy --level 1-2
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # As the `warpzone` command does.

import argparse
import time
from pathlib import Path

from warpzone.bench.machine import machine_info
from warpzone.evaluation.choosing import Chooser
from warpzone.evaluation.evaluation import Evaluation, envs_for, evaluate
from warpzone.evaluation.trained import Player, TrainedPolicy, load_policy
from warpzone.models.arithmetic import one_thread

SEED = 10_000


def play(
    policy: TrainedPolicy, chooser: Chooser, level: str, episodes: int
) -> tuple[Evaluation, float]:
    """Plays the episodes and returns them with the seconds that it took."""
    temperature = policy.config.model.eval_temperature
    player = Player(chooser, envs_for(episodes), SEED, False, temperature)
    began = time.perf_counter()
    with one_thread():
        played = evaluate(
            player, level, episodes=episodes, seed=SEED, num_threads=1, **policy.env_options()
        )
    return played, time.perf_counter() - began


def main() -> None:
    """Plays with both and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("policy", type=Path)
    parser.add_argument("--level", default="1-1")
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    policy = load_policy(given.policy, given.level)
    choosers = {"PyTorch": Chooser(policy.model), "native code": policy.chooser}
    seconds: dict[str, list[float]] = {name: [] for name in choosers}
    results = []
    for _ in range(given.repeats):
        for name, chooser in choosers.items():
            played, took = play(policy, chooser, given.level, given.episodes)
            results.append(played)
            seconds[name].append(took)
    if any(result != results[0] for result in results):
        raise SystemExit("the episodes differ")
    steps = sum(episode.steps for episode in results[0].episodes)
    print(machine_info())
    print("| actions chosen by | steps/s on one thread | ratio |")
    print("|---|---|---|")
    slowest = min(seconds["PyTorch"])
    for name, values in seconds.items():
        print(f"| {name} | {steps / min(values):,.0f} | {slowest / min(values):.2f}x |")


if __name__ == "__main__":
    main()
