"""A reward of your own: coins first, a little progress, and every death hurts.

python examples/own_reward.py --steps 300000
warpzone train --plugin examples/own_reward.py --reward coins --obs tiles --level 1-1
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import warpzone
import numpy as np
from numpy.typing import NDArray


@warpzone.register_reward("coins")
def coins(info: Mapping[str, Any], previous: Mapping[str, Any]) -> NDArray[np.float64]:
    """One reward per environment, from the info of a step and the info before it.

    `previous` is the info of the reset at the first step of an episode, so a difference never spans
    two episodes.
    """
    collected = (info["coins"] - previous["coins"]) % 100  # The counter wraps at 100.
    progress = info["progress"] - previous["progress"]
    died = info["deaths"] - previous["deaths"]
    return collected + 0.01 * progress - 1.0 * died


def show(metrics: Mapping[str, float]) -> None:
    """Called after every update; returning False would end the run."""
    if metrics["run/updates"] % 20 == 0:
        print(f"{metrics['run/steps']:>9,} steps, reward {metrics['reward/sum']:.1f}")


def main() -> None:
    """Trains and evaluates."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=300_000)
    parser.add_argument("--runs", default="runs", help="folder of the run")
    arguments = parser.parse_args()
    run = warpzone.train(
        level="1-1",
        obs="tiles",
        steps=arguments.steps,
        reward="coins",
        callback=show,
        runs=arguments.runs,
        name="own-reward",
        display="quiet",
    )
    print(run)
    print(warpzone.evaluate(run.path, episodes=20))


if __name__ == "__main__":
    main()
