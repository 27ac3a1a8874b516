"""A network of your own: trains it, loads it back, evaluates it.

python examples/own_network.py --steps 300000
warpzone eval runs/own-network --plugin examples/own_network.py
"""

from __future__ import annotations

import argparse

import warpzone
import torch
from gymnasium import spaces
from torch import Tensor, nn


class TinyNetwork(nn.Module):
    """Two convolutions over the tile grid, and the features beside it."""

    def __init__(self, space: spaces.Dict, size: int) -> None:
        super().__init__()
        planes, height, width = space["tiles"].shape
        self.grid = nn.Sequential(
            nn.Conv2d(planes, 16, 3, stride=2),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2),
            nn.ReLU(),
            nn.Flatten(),
        )
        cells = self.grid(torch.zeros(1, planes, height, width)).shape[1]
        self.output = nn.Linear(cells + space["features"].shape[0], size)

    def forward(self, obs: dict[str, Tensor]) -> Tensor:
        """From a batch of uint8 observations to one vector each; the heads are added to it."""
        grid = self.grid(obs["tiles"].float() / 255)
        features = obs["features"].float() / 255
        return torch.relu(self.output(torch.cat([grid, features], dim=1)))


@warpzone.register_encoder("tiny")
def make_tiny(space: spaces.Dict, size: int) -> nn.Module:
    """Makes the network for an observation space; `size` is the option `hidden`."""
    return TinyNetwork(space, size)


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
        encoder="tiny",
        hidden=128,
        runs=arguments.runs,
        name="own-network",
    )
    print(run)
    policy = warpzone.load_policy(run.path)
    print(warpzone.evaluate(policy, level="1-1", episodes=20))


if __name__ == "__main__":
    main()
