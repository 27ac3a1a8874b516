"""Stable-Baselines3 on the vector environment, with a reward of your own.

pip install 'warpzone[sb3]'
python examples/sb3.py --steps 300000
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import warpzone
from numpy.typing import NDArray
from stable_baselines3 import PPO
from warpzone.envs.sb3 import SB3VecEnv, TilesExtractor


def progress(info: Mapping[str, Any], previous: Mapping[str, Any]) -> NDArray[Any]:
    """0.01 per pixel of progress, and 10 for the flag."""
    cleared = info["clears"] - previous["clears"]
    return 0.01 * (info["progress"] - previous["progress"]) + 10.0 * cleared


def main() -> None:
    """Trains."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=300_000)
    arguments = parser.parse_args()
    games = warpzone.make_vec(
        "1-1",
        num_envs=16,
        obs="tiles",
        actions="right-only",
        autoreset="same-step",
        stagnation_limit=150,
    )
    env = SB3VecEnv(warpzone.InfoReward(games, progress))
    model = PPO(
        "MultiInputPolicy",
        env,
        n_steps=64,
        batch_size=256,
        device="cpu",
        verbose=1,
        policy_kwargs={"features_extractor_class": TilesExtractor, "net_arch": [64]},
    )
    model.learn(arguments.steps)
    print(f"trained for {model.num_timesteps:,} steps")


if __name__ == "__main__":
    main()
