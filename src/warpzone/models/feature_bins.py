"""Bins for the features of the tile observation: where a number matters in steps.

A speed or a distance matters in steps, such as just too near to jump, and a kind of enemy is no
amount at all; a layer learns both far more quickly from bins than from one number. How fine the
bins are depends on what the feature tells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

_MIDDLE = 128.0  # Of features with a sign.
# Distances and speeds: fine around nothing, coarse far out. A distance is in units of two pixels.
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
}


def levels_of(feature: str) -> list[float]:
    """The levels around which the bins of a feature lie; none for a truth, which is 0 or 255.

    Args:
        feature: As the games name it, such as `x_speed` or `object1_x`.
    """
    if feature.startswith("object"):
        part = feature.split("_", 1)[1]
        return _LEVELS["y_away" if part == "y" else part]
    return _LEVELS.get(feature, [])


class FeatureBins(nn.Module):
    """Turns bytes, [B, F], into shares of bins, [B, size]; a value between two levels is shared.

    A byte has only 256 values, so the shares are looked up. Features with equally many bins share a
    table and stand together in the result.
    """

    def __init__(self, levels: Sequence[Sequence[float]]):
        """Lays out the bins.

        Args:
            levels: Of each feature, rising.
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
        """Shares of the bins."""
        parts = [features.new_zeros(len(features), 0, dtype=torch.float32)]
        for count in self._counts:
            chosen, rows, table = (
                self.get_buffer(f"{name}{count}") for name in ("chosen", "rows", "table")
            )
            places = features.index_select(1, chosen) + rows
            parts.append(functional.embedding(places, table).flatten(1))
        return torch.cat(parts, 1)


def _shares(levels: Sequence[float]) -> Tensor:
    """The shares that each byte gives to bins around some levels, [256, count]."""
    level = torch.tensor(levels)
    gaps = level.diff()
    endless = torch.tensor([math.inf])
    away = torch.arange(256.0).unsqueeze(1) - level
    above, below = away / torch.cat([gaps, endless]), -away / torch.cat([endless, gaps])
    return (1.0 - torch.maximum(above, below)).clamp(min=0.0)
