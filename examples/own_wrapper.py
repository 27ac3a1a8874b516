"""Vector wrappers of your own, together with Gymnasium's: training, evaluation and videos use them.

python examples/own_wrapper.py --steps 300000
warpzone eval runs/own-wrapper --plugin examples/own_wrapper.py
"""

from __future__ import annotations

import argparse
from typing import Any

import warpzone
import numpy as np
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.wrappers.vector import TransformReward
from numpy.typing import NDArray


class NearSighted(VectorWrapper):
    """Hides the right part of the tile grid."""

    def __init__(self, env: VectorEnv[Any, Any, Any], columns: int = 3) -> None:
        super().__init__(env)
        self._columns = columns

    def reset(self, **keywords: Any) -> tuple[Any, dict[str, Any]]:
        """Begins episodes, in all environments or in those of `options["reset_mask"]`."""
        obs, info = self.env.reset(**keywords)
        return self._hidden(obs), info

    def step(self, actions: NDArray[Any]) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Takes a step."""
        obs, reward, terminated, truncated, info = self.env.step(actions)
        return self._hidden(obs), reward, terminated, truncated, info

    def _hidden(self, obs: dict[str, NDArray[np.uint8]]) -> dict[str, NDArray[np.uint8]]:
        tiles = obs["tiles"].copy()
        tiles[..., -self._columns :] = 0
        return obs | {"tiles": tiles}


@warpzone.register_wrapper("near-sighted")
def wrap(env: VectorEnv[Any, Any, Any]) -> VectorEnv[Any, Any, Any]:
    """Puts the wrappers around the environments of a run."""
    return TransformReward(NearSighted(env), lambda reward: np.clip(reward, -1.0, 1.0))


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
        wrap=wrap,
        runs=arguments.runs,
        name="own-wrapper",
    )
    print(run)
    print(warpzone.evaluate(run.path, episodes=20))


if __name__ == "__main__":
    main()
