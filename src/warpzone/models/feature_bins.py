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
    """Turns bytes, [B, F], into shares of bins, [B, size]; a value between two levels is shared."""

    source: Tensor
    level: Tensor
    below: Tensor
    above: Tensor

    def __init__(self, levels: Sequence[Sequence[float]]):
        """Lays out the bins.

        Args:
            levels: Of each feature, rising.
        """
        super().__init__()
        rows: list[tuple[int, float, float, float]] = []
        for index, steps in enumerate(levels):
            edges = [-math.inf, *steps, math.inf]
            rows += [
                (index, here, 1.0 / (here - before), 1.0 / (after - here))
                for before, here, after in zip(edges, edges[1:], edges[2:], strict=False)
            ]
        self.size = len(rows)
        source, level, below, above = zip(*rows, strict=True) if rows else ((), (), (), ())
        self.register_buffer("source", torch.tensor(source, dtype=torch.int64), persistent=False)
        for name, values in (("level", level), ("below", below), ("above", above)):
            tensor = torch.tensor(values, dtype=torch.float32)
            self.register_buffer(name, tensor, persistent=False)

    def forward(self, features: Tensor) -> Tensor:
        """Shares of the bins."""
        away = features.index_select(1, self.source) - self.level
        return (1.0 - torch.maximum(away * self.above, away * -self.below)).clamp_(min=0.0)
