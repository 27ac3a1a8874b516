"""Compares training speed, in environment steps per second, with Stable-Baselines3.

    python benchmarks/train_throughput.py

Warpzone trains with the CPU preset on pixels and on tiles, as `warpzone train` does. The peer is
Stable-Baselines3 PPO on gym-super-mario-bros with eight subprocesses; its network has the same
layers as our network for pixels, and it runs the same number of epochs. The contestants take turns,
and the best turn of each counts.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # As the `warpzone` command does.

import argparse
import json
from contextlib import closing
from pathlib import Path

from comparison import Comparison, as_json, markdown
from env_throughput import best_rates

from warpzone.bench.machine import machine_info
from warpzone.bench.peers import install
from warpzone.bench.peers.serve import Worker, measure
from warpzone.config import make_config
from warpzone.training.trainer import Trainer

BARS = {"pixels": 25, "tiles": 80}


def trainer(obs: str) -> Trainer:
    """Returns a trainer of the CPU preset that is ready for its first update."""
    ours = Trainer(make_config(obs=obs))
    ours.begin()
    return ours


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", type=Path, default=install.DEFAULT_FOLDER)
    parser.add_argument("--seconds", type=float, default=20.0, help="duration of one turn")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    options = parser.parse_args()
    contestants = {obs: trainer(obs) for obs in BARS}
    batches = {obs: ours.storage.steps * ours.storage.num_envs for obs, ours in contestants.items()}
    epochs = contestants["pixels"].config.learn.epochs
    python = install.install(install.SB3, options.peers)
    with closing(Worker(python, "sb3_train", str(epochs))) as peer:
        best = best_rates(
            {
                obs: lambda obs=obs: measure(  # type: ignore[misc]
                    lambda _: contestants[obs].update(), options.seconds, batches[obs]
                )
                for obs in BARS
            }
            | {"SB3": lambda: peer.rate(options.seconds, "wall")},
            options.repeats,
        )
    rows = [
        Comparison(
            f"training steps/s, {obs}, against SB3 PPO on gym-super-mario-bros, 8 processes",
            f"{best[obs]:,.0f}",
            f"{best['SB3']:,.0f}",
            best[obs] / best["SB3"],
            "x",
            bar,
        )
        for obs, bar in BARS.items()
    ]
    print("\n".join(f"{key}: {value}" for key, value in machine_info().items()))
    print(f"best of {options.repeats} turns of {options.seconds:g} s\n")
    print(markdown(rows))
    if options.json is not None:
        options.json.write_text(json.dumps(as_json(rows), indent=2) + "\n")
    for ours in contestants.values():
        ours.close()


if __name__ == "__main__":
    main()
