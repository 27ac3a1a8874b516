"""Plays nes-py for a while and prints what happened; runs under any NumPy."""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np

from warpzone.envs.vectors.make import make_vector_env


def play(vector: Any) -> dict[str, list[float]]:
    """What two games of different levels tell at each step."""
    games = make_vector_env(
        "1-1,1-3", num_envs=2, vector=vector, backend="nes-py", obs="tiles", sticky_prob=0.25
    )
    games.reset(seed=0)
    told: dict[str, list[float]] = {"x_pos": [], "y_pos": [], "score": [], "reward": [], "seen": []}
    for step in range(60):
        obs, reward, _, _, info = games.step([4 if step % 12 < 7 else 3] * 2)
        told["reward"] += reward.tolist()
        told["seen"].append(int(obs["tiles"].sum()))
        for name in ("x_pos", "y_pos", "score"):
            told[name] += info[name].tolist()
    games.close()
    return told


def main() -> None:
    """Prints versions and what was told, as JSON."""
    warnings.simplefilter("error", RuntimeWarning)  # Such as an overflow in bytes.
    versions = {"numpy": np.__version__, "gymnasium": gymnasium.__version__}
    print(json.dumps({"versions": versions, "told": play(sys.argv[1])}))


if __name__ == "__main__":
    main()
