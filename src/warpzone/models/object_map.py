"""A map of the objects around Mario, at half the size of a tile and always relative to him.

Whether an enemy is in the way depends on how far it is across and how far down, taken together. In
the tile grid that pair is spread over rows and halves of tiles, and among the features over two
numbers; here each pair has a cell of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

ROWS, COLUMNS = 16, 20
_MIDDLE = 128  # Of features with a sign.
_CELL = 8.0  # Pixels.
_ROWS_ABOVE, _COLUMNS_BEHIND = 8, 6
# Kinds are 255 harmful, 192 can be jumped on, 128 carries Mario: a plane of the map each.
_HARMFUL, _KIND_STEP, _PLANES = 255.0, 63.0, 3
_PARTS = ("kind", "x", "y", "type", "angle")
# Fire bars: rows of balls, a cell each, that turn around a middle.
_BARS, _LONG_BAR, _BALLS, _BALLS_OF_LONG = (0x1B * 4, 0x1F * 4), 0x1F * 4, 6, 12
_BALL_MIDDLE = 4.0
_TURN = 256.0


class ObjectMap(nn.Module):
    """Draws the objects that features list, [B, F] bytes, into cells, [B, size]."""

    chosen: Tensor
    balls: Tensor

    def __init__(self, features: Sequence[str]):
        """Finds the objects.

        Args:
            features: Names of the features.
        """
        super().__init__()
        objects = [name.removesuffix("_kind") for name in features if name.endswith("_kind")]
        chosen = [features.index(f"{name}_{part}") for part in _PARTS for name in objects]
        self.size = _PLANES * ROWS * COLUMNS if objects else 0
        self.register_buffer("chosen", torch.tensor(chosen, dtype=torch.int64), persistent=False)
        balls = torch.arange(_BALLS_OF_LONG, dtype=torch.float32)
        self.register_buffer("balls", balls, persistent=False)

    def forward(self, features: Tensor) -> Tensor:
        """Ones where objects are; those off the map are left out."""
        # One cell more takes what is not on the map.
        cells = features.new_zeros(len(features), self.size + 1)
        if self.size:
            listed = features.index_select(1, self.chosen).float()
            kind, x, y, sort, angle = listed.view(len(features), len(_PARTS), -1).unbind(1)
            right, down = (x - _MIDDLE) * 2, (y - _MIDDLE) * 2
            bar = (sort >= _BARS[0]) & (sort <= _BARS[1]) & (kind > 0)
            cells.scatter_(1, self._cells(kind.where(~bar, 0), right, down), 1)
            if bool(bar.any()):
                long = sort == _LONG_BAR
                reach = torch.where(long, _BALLS_OF_LONG, _BALLS).unsqueeze(-1)
                ball = bar.unsqueeze(-1) & (self.balls < reach)
                turned = (angle * (2 * math.pi / _TURN)).unsqueeze(-1)
                away = self.balls * _CELL
                right = right.unsqueeze(-1) + _BALL_MIDDLE + away * turned.sin()
                down = down.unsqueeze(-1) + _BALL_MIDDLE - away * turned.cos()
                harm = torch.where(ball, _HARMFUL, 0.0)
                cells.scatter_(1, self._cells(harm, right, down).flatten(1), 1)
        return cells[:, : self.size]

    def _cells(self, kind: Tensor, right: Tensor, down: Tensor) -> Tensor:
        """Numbers of the cells at some pixels right of and below Mario; the last for none."""
        column = (right / _CELL).floor() + _COLUMNS_BEHIND
        row = (down / _CELL).floor() + _ROWS_ABOVE
        inside = (row >= 0) & (row < ROWS) & (column >= 0) & (column < COLUMNS)
        plane = ((_HARMFUL - kind) / _KIND_STEP).floor()
        cell = (plane * ROWS + row) * COLUMNS + column
        return torch.where(inside & (plane < _PLANES), cell, float(self.size)).to(torch.int64)
