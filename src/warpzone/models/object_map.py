"""A map of the objects around Mario, at half the size of a tile and always relative to him.

Whether an enemy is in the way depends on how far it is across and how far down, taken together. In
the tile grid that pair is spread over rows and halves of tiles, and among the features over two
numbers; here each pair has a cell of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

ROWS, COLUMNS = 16, 20
_MIDDLE = 128  # Of features with a sign.
_CELL = 4  # In units of two pixels.
_ROWS_ABOVE, _COLUMNS_BEHIND = 8, 6
_KINDS = (255, 192, 128)  # Harmful, can be jumped on, carries Mario: a plane of the map each.


class ObjectMap(nn.Module):
    """Draws the objects that features list, [B, F] bytes, into cells, [B, size]."""

    chosen: Tensor

    def __init__(self, features: Sequence[str]):
        """Finds the objects.

        Args:
            features: Names of the features.
        """
        super().__init__()
        objects = [name.removesuffix("_kind") for name in features if name.endswith("_kind")]
        chosen = [
            [features.index(f"{name}_{part}") for part in ("kind", "x", "y")] for name in objects
        ]
        self.size = len(_KINDS) * ROWS * COLUMNS if objects else 0
        self.register_buffer("chosen", torch.tensor(chosen, dtype=torch.int64), persistent=False)

    def forward(self, features: Tensor) -> Tensor:
        """Ones where objects are; those off the map are left out."""
        if self.size == 0:
            return features.new_zeros(len(features), 0)
        listed = features[:, self.chosen].to(torch.int64)
        kind = listed[..., 0]
        column = (listed[..., 1] - _MIDDLE).div(_CELL, rounding_mode="floor") + _COLUMNS_BEHIND
        row = (listed[..., 2] - _MIDDLE).div(_CELL, rounding_mode="floor") + _ROWS_ABOVE
        plane = sum(index * (kind == value) for index, value in enumerate(_KINDS))
        known = sum(kind == value for value in _KINDS)
        drawn = (known > 0) & (row >= 0) & (row < ROWS) & (column >= 0) & (column < COLUMNS)
        cell = (plane * ROWS + row) * COLUMNS + column
        # One cell more takes what is not on the map.
        cells = features.new_zeros(len(features), self.size + 1)
        cells.scatter_(1, torch.where(drawn, cell, self.size), 1)
        return cells[:, : self.size]
