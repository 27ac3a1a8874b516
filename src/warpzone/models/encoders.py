"""Encoders: from an observation to a vector.

Every encoder takes uint8 observations, [B, C, H, W] pictures or a tuple of tile planes and
features, and returns [B, size] floats. `prepare` turns observations into the numbers that its first
layer sees; who needs the same ones several times may do that once and pass them on instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from warpzone.models.feature_bins import FeatureBins, levels_of
from warpzone.models.object_map import ObjectMap

BLOCK_SIZE = 4

Layer = TypeVar("Layer", nn.Linear, nn.Conv2d)


def orthogonal(layer: Layer, gain: float = math.sqrt(2)) -> Layer:
    """Gives a layer orthogonal weights and no bias; returns it."""
    nn.init.orthogonal_(layer.weight, gain)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


class Encoder(nn.Module):
    """What an actor-critic needs of its encoder."""

    size: int

    def prepare(self, obs: Any) -> Tensor:
        """Observations as the numbers that the first layer sees; these already are."""
        prepared: Tensor = obs
        return prepared


class PictureEncoder(Encoder):
    """Layers that see a picture, then a linear one: what encoders of pictures have in common."""

    def __init__(self, layers: nn.Module, shape: tuple[int, int, int], size: int):
        """Makes the encoder.

        Args:
            layers: From what `prepare` returns to a flat vector.
            shape: Of a picture, [C, H, W].
            size: Of the output.
        """
        super().__init__()
        self.size = size
        self.layers = layers
        with torch.no_grad():
            flat = layers(self.prepare(torch.zeros(1, *shape, dtype=torch.uint8))).shape[1]
        self.linear = orthogonal(nn.Linear(flat, size))

    def prepare(self, obs: Tensor) -> Tensor:
        """Pictures as numbers around zero, in the precision of the network."""
        return centred(obs, obs)

    def forward(self, obs: Tensor) -> Tensor:
        """Encodes pictures, prepared or not."""
        prepared = obs if obs.is_floating_point() else self.prepare(obs)
        return functional.relu(self.linear(self.layers(prepared)))


class NatureEncoder(PictureEncoder):
    """Three convolutions and a linear layer, after the DQN of 2015; small by default."""

    def __init__(self, shape: tuple[int, int, int], channels: tuple[int, int, int], size: int):
        """Makes the encoder for [C, H, W] pictures."""
        first, second, third = channels
        layers = nn.Sequential(
            orthogonal(nn.Conv2d(shape[0], first, 8, stride=4)),
            nn.ReLU(),
            orthogonal(nn.Conv2d(first, second, 4, stride=2)),
            nn.ReLU(),
            orthogonal(nn.Conv2d(second, third, 3, stride=1)),
            nn.ReLU(),
            nn.Flatten(),
        )
        super().__init__(layers, shape, size)


class ChannelsFirst(nn.Module):
    """Names channels second, where layers expect them, and leaves them last in memory."""

    def forward(self, x: Tensor) -> Tensor:
        """From [B, H, W, C] to [B, C, H, W]."""
        return x.permute(0, 3, 1, 2)


class SpaceToDepthEncoder(PictureEncoder):
    """Folds 4 x 4 blocks of pixels into channels, then two 3 x 3 convolutions: quick on a CPU."""

    def __init__(self, shape: tuple[int, int, int], channels: tuple[int, int], size: int):
        """Makes the encoder for [C, H, W] pictures whose sides are multiples of four."""
        first, second = channels
        layers = nn.Sequential(
            ChannelsFirst(),
            orthogonal(nn.Conv2d(shape[0] * BLOCK_SIZE**2, first, 3, stride=2, padding=1)),
            nn.ReLU(),
            orthogonal(nn.Conv2d(first, second, 3, stride=2, padding=1)),
            nn.ReLU(),
            nn.Flatten(),
        )
        # As `folded` lays them.
        layers.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        super().__init__(layers, shape, size)

    def prepare(self, obs: Tensor) -> Tensor:
        """Blocks of pictures as numbers around zero."""
        return centred(space_to_depth(obs), obs)


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


class ImpalaEncoder(PictureEncoder):
    """The residual network of IMPALA; for GPUs."""

    def __init__(self, shape: tuple[int, int, int], channels: tuple[int, ...], size: int):
        """Makes the encoder for [C, H, W] pictures."""
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
        super().__init__(nn.Sequential(*layers, nn.ReLU(), nn.Flatten()), shape, size)


# Planes of a tile grid that are looked at: all but Mario's own, whose place the features tell. What
# stands still need not be seen twice, so of older grids only enemies and lifts are.
_PLANES = 5
_SEEN, _SEEN_BEFORE = (0, 1, 2, 3), (1, 2)


class TileEncoder(Encoder):
    """Two linear layers over the tile grid and its features: as numbers, in bins and on a map."""

    planes: Tensor

    def __init__(
        self, shape: tuple[int, int, int], features: Sequence[str], hidden: int, size: int
    ):
        """Makes the encoder.

        Args:
            shape: Of the stacked grids, [C, H, W], the oldest first.
            features: Names of the features.
            hidden: Width of the first layer.
            size: Width of the second, the output.
        """
        super().__init__()
        self.size = size
        older, cells = shape[0] // _PLANES - 1, shape[1] * shape[2]
        planes = [_PLANES * age + plane for age in range(older) for plane in _SEEN_BEFORE]
        planes += [_PLANES * older + plane for plane in _SEEN]
        self.register_buffer("planes", torch.tensor(planes), persistent=False)
        self.bins = FeatureBins([levels_of(name) for name in features])
        self.objects = ObjectMap(features)
        inputs = len(planes) * cells + len(features) + self.bins.size + self.objects.size
        self.first = orthogonal(nn.Linear(inputs, hidden))
        self.second = orthogonal(nn.Linear(hidden, size))

    def prepare(self, obs: tuple[Tensor, Tensor]) -> Tensor:
        """Grid and features as one vector of numbers."""
        tiles, features = obs
        precision = working_precision(tiles)
        grid = tiles.index_select(1, self.planes).flatten(1).to(precision) / 255.0
        parts = [grid, *self.single_features(features), self.objects(features)]
        return torch.cat([part.to(precision) for part in parts], 1)

    def single_features(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """What features say one by one: as numbers, and in bins."""
        return (features.to(working_precision(features)) - 128.0) / 64.0, self.bins(features)

    def forward(self, obs: tuple[Tensor, Tensor] | Tensor) -> Tensor:
        """Encodes grids with features, prepared or not."""
        prepared = self.prepare(obs) if isinstance(obs, tuple) else obs
        return functional.relu(self.second(functional.relu(self.first(prepared))))


def space_to_depth(pictures: Tensor) -> Tensor:
    """Blocks of 4 x 4 pixels as channels, [B, H / 4, W / 4, C * 16].

    What `torch.nn.PixelUnshuffle` does, but four bytes at a time.
    """
    lanes, planes, height, width = pictures.shape
    rows, columns = height // BLOCK_SIZE, width // BLOCK_SIZE
    words = pictures.contiguous().view(torch.int32).view(lanes, planes, rows, BLOCK_SIZE, columns)
    blocks = words.permute(0, 2, 4, 1, 3).contiguous().view(torch.uint8)
    return blocks.view(lanes, rows, columns, planes * BLOCK_SIZE**2)


def centred(values: Tensor, pictures: Tensor) -> Tensor:
    """Bytes as numbers that are zero where the background is, and mostly between -1 and 1.

    The background, sky or darkness, fills most of a picture and says nothing; with it at zero
    learning is a good deal quicker than with pictures as they are.

    Args:
        values: The bytes, in any order.
        pictures: The pictures that they are of; the median of every fourth pixel of the newest one
            is the background.
    """
    precision = working_precision(values)
    background = pictures[:, -1, ::4, ::4].flatten(1).median(1).values.to(precision)
    # A fresh tensor, changed in place: each pass over so many bytes costs.
    return values.to(precision).sub_(background.view(-1, 1, 1, 1)).mul_(1.0 / 128.0)


def working_precision(tensor: Tensor) -> torch.dtype:
    """What layers compute with where the tensor is: that of autocast, if it is on."""
    kind = tensor.device.type
    if torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind):
        return torch.get_autocast_dtype(kind)
    return torch.float32
