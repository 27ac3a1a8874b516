"""How tile grids go into Stable-Baselines3: its image network wants pictures of 36 pixels up."""

from __future__ import annotations

import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn


class TileExtractor(BaseFeaturesExtractor):
    """A small convolution over the grid, beside the features."""

    def __init__(self, observation_space: spaces.Dict, features_dim: int = 128) -> None:
        super().__init__(observation_space, features_dim)
        planes, rows, columns = observation_space["tiles"].shape or ()
        features = (observation_space["features"].shape or (0,))[0]
        self.grid = nn.Sequential(
            nn.Conv2d(planes, 32, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 32, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
        )
        flat = 32 * ((rows + 1) // 2) * ((columns + 1) // 2)
        self.head = nn.Sequential(nn.Linear(flat + features, features_dim), nn.ReLU())

    def forward(self, obs: dict[str, torch.Tensor]) -> torch.Tensor:
        # SB3 has divided the grid, which it takes for a picture, by 255, but not the features.
        grid = self.grid(obs["tiles"])
        return self.head(torch.cat([grid, obs["features"] / 255.0], dim=1))
