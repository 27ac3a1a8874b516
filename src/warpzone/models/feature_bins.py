"""Binning of the features of tile observations.

Distances and speeds matter at thresholds, such as "too close to jump", and the type of an enemy is
categorical; a linear layer learns both much faster from bins than from a single number. The width
of the bins depends on the feature.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

_MIDDLE = 128.0  # Zero of signed features.
# Distances and speeds: fine near zero, coarse far away. Distances are in units of two pixels.
_NEAR = (0, 4, 8, 12, 16, 20, 24, 32, 40, 56, 80, 127)
_SIGNED = sorted({_MIDDLE + sign * gap for gap in _NEAR for sign in (-1, 1)})


def _every(step: int) -> list[float]:
    return [float(level) for level in range(0, 257, step)]


_LEVELS: dict[str, list[float]] = {
    "x_speed": _SIGNED,
    "y_speed": _every(16),
    "x_in_tile": _every(16),
    "y_in_tile": _every(16),
    "power": _every(127),
    "injury_timer": _every(64),
    "star_timer": _every(64),
    "screen_x": _every(16),
    "y": _every(16),
    "page": _every(8),
    "column": _every(16),
    "clock": _every(32),
    "loop_correct": _every(64),
    "loop_passes": _every(64),
    "kind": _every(64),
    "type": _every(8),
    "x": _SIGNED,
    "y_away": _SIGNED,
    "speed": _SIGNED,
    "fall": _every(16),
    "angle": _every(8),
    "place": _every(1),
    "far_place": _every(1),
    "level": _every(8),
}


def levels_of(feature: str) -> list[float]:
    """Returns the centers of a feature's bins; empty for a boolean, which is 0 or 255.

    Args:
        feature: Name of the feature, such as `x_speed` or `object1_x`.
    """
    if feature.startswith("object"):
        part = feature.split("_", 1)[1]
        return _LEVELS["y_away" if part == "y" else part]
    return _LEVELS.get(feature, [])


class FeatureBins(nn.Module):
    """Maps bytes, [B, F], to bin weights, [B, size], interpolated between neighboring bins.

    A byte has only 256 values, so the weights are looked up in a table. Features with the same
    number of bins share a table and are adjacent in the result.
    """

    def __init__(self, levels: Sequence[Sequence[float]]):
        """Creates the tables.

        Args:
            levels: Bin centers of each feature, in ascending order.
        """
        super().__init__()
        self.size = sum(len(steps) for steps in levels)
        self._counts = sorted({len(steps) for steps in levels if steps})
        for count in self._counts:
            chosen = [index for index, steps in enumerate(levels) if len(steps) == count]
            table = torch.cat([_shares(levels[index]) for index in chosen])
            rows = 256 * torch.arange(len(chosen))
            for name, tensor in (
                ("chosen", torch.tensor(chosen)),
                ("rows", rows),
                ("table", table),
            ):
                self.register_buffer(f"{name}{count}", tensor, persistent=False)

    def forward(self, features: Tensor) -> Tensor:
        """Returns the weights of all bins."""
        parts = [features.new_zeros(len(features), 0, dtype=torch.float32)]
        for count in self._counts:
            chosen, rows, table = (
                self.get_buffer(f"{name}{count}") for name in ("chosen", "rows", "table")
            )
            places = features.index_select(1, chosen) + rows
            parts.append(functional.embedding(places, table).flatten(1))
        return torch.cat(parts, 1)


def _shares(levels: Sequence[float]) -> Tensor:
    """Returns the weight that each byte gives to each bin, [256, count]."""
    level = torch.tensor(levels)
    gaps = level.diff()
    endless = torch.tensor([math.inf])
    away = torch.arange(256.0).unsqueeze(1) - level
    above, below = away / torch.cat([gaps, endless]), -away / torch.cat([endless, gaps])
    return (1.0 - torch.maximum(above, below)).clamp(min=0.0)
