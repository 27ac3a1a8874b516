"""Encoders: from an observation to a vector.

Every encoder takes uint8 observations, [B, C, H, W] pictures or a tuple of tile planes and
features, and returns [B, size] floats.
"""

from __future__ import annotations

import math
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

Layer = TypeVar("Layer", nn.Linear, nn.Conv2d)


def orthogonal(layer: Layer, gain: float = math.sqrt(2)) -> Layer:
    """Gives a layer orthogonal weights and no bias; returns it."""
    nn.init.orthogonal_(layer.weight, gain)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


class NatureEncoder(nn.Module):
    """Three convolutions and a linear layer, after the DQN of 2015; small by default."""

    def __init__(self, shape: tuple[int, int, int], channels: tuple[int, int, int], size: int):
        """Makes the encoder for [C, H, W] pictures."""
        super().__init__()
        self.size = size
        first, second, third = channels
        self.convolutions = nn.Sequential(
            orthogonal(nn.Conv2d(shape[0], first, 8, stride=4)),
            nn.ReLU(),
            orthogonal(nn.Conv2d(first, second, 4, stride=2)),
            nn.ReLU(),
            orthogonal(nn.Conv2d(second, third, 3, stride=1)),
            nn.ReLU(),
            nn.Flatten(),
        )
        with torch.no_grad():
            flat = self.convolutions(torch.zeros(1, *shape)).shape[1]
        self.linear = orthogonal(nn.Linear(flat, size))

    def forward(self, obs: Tensor) -> Tensor:
        """Encodes pictures."""
        return functional.relu(self.linear(self.convolutions(centred(obs))))


class FoldedEncoder(nn.Module):
    """Folds 4 x 4 blocks of pixels into channels, then two 3 x 3 convolutions: quick on a CPU."""

    FOLD = 4

    def __init__(self, shape: tuple[int, int, int], channels: tuple[int, int], size: int):
        """Makes the encoder for [C, H, W] pictures whose sides are multiples of four."""
        super().__init__()
        self.size = size
        first, second = channels
        self.convolutions = nn.Sequential(
            nn.PixelUnshuffle(self.FOLD),
            orthogonal(nn.Conv2d(shape[0] * self.FOLD**2, first, 3, stride=2, padding=1)),
            nn.ReLU(),
            orthogonal(nn.Conv2d(first, second, 3, stride=2, padding=1)),
            nn.ReLU(),
            nn.Flatten(),
        )
        with torch.no_grad():
            flat = self.convolutions(torch.zeros(1, *shape)).shape[1]
        self.linear = orthogonal(nn.Linear(flat, size))

    def forward(self, obs: Tensor) -> Tensor:
        """Encodes pictures."""
        return functional.relu(self.linear(self.convolutions(centred(obs))))


class ResidualBlock(nn.Module):
    """Two convolutions beside a straight connection."""

    def __init__(self, channels: int):
        """Makes the block."""
        super().__init__()
        self.first = orthogonal(nn.Conv2d(channels, channels, 3, padding=1))
        self.second = orthogonal(nn.Conv2d(channels, channels, 3, padding=1))

    def forward(self, x: Tensor) -> Tensor:
        """Adds what the convolutions find to the input."""
        found: Tensor = self.second(functional.relu(self.first(functional.relu(x))))
        return x + found


class ImpalaEncoder(nn.Module):
    """The residual network of IMPALA; for GPUs."""

    def __init__(self, shape: tuple[int, int, int], channels: tuple[int, ...], size: int):
        """Makes the encoder for [C, H, W] pictures."""
        super().__init__()
        self.size = size
        layers: list[nn.Module] = []
        before = shape[0]
        for width in channels:
            layers += [
                orthogonal(nn.Conv2d(before, width, 3, padding=1)),
                nn.MaxPool2d(3, stride=2, padding=1),
                ResidualBlock(width),
                ResidualBlock(width),
            ]
            before = width
        self.stages = nn.Sequential(*layers, nn.ReLU(), nn.Flatten())
        with torch.no_grad():
            flat = self.stages(torch.zeros(1, *shape)).shape[1]
        self.linear = orthogonal(nn.Linear(flat, size))

    def forward(self, obs: Tensor) -> Tensor:
        """Encodes pictures."""
        return functional.relu(self.linear(self.stages(centred(obs))))


class TileEncoder(nn.Module):
    """Two linear layers over the tile grid and its features."""

    def __init__(self, cells: int, features: int, hidden: int, size: int):
        """Makes the encoder.

        Args:
            cells: Values of the stacked grid.
            features: Length of the feature vector.
            hidden: Width of the first layer.
            size: Width of the second, the output.
        """
        super().__init__()
        self.size = size
        self.first = orthogonal(nn.Linear(cells + features, hidden))
        self.second = orthogonal(nn.Linear(hidden, size))

    def forward(self, obs: tuple[Tensor, Tensor]) -> Tensor:
        """Encodes grids with features."""
        tiles, features = obs
        grid = tiles.flatten(1).to(self.first.weight.dtype) / 255.0
        extra = (features.to(self.first.weight.dtype) - 128.0) / 64.0
        hidden = functional.relu(self.first(torch.cat([grid, extra], 1)))
        return functional.relu(self.second(hidden))


def centred(pictures: Tensor) -> Tensor:
    """Pictures as floats around zero: the sky, most of a picture, should not drown the rest."""
    values = pictures.float() / 255.0
    return values - values.mean(dim=(2, 3), keepdim=True)
