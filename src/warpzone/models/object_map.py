"""Map of the objects around Mario, relative to him, with cells of half a tile.

Whether an enemy is in the way depends on its horizontal and vertical distance jointly. The tile
grid is too coarse for this, and the features hold the two distances as separate numbers; here, each
pair of distances has its own cell. One map shows where objects are, another where they will be
relative to Mario if everything keeps its speed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

ROWS, COLUMNS = 16, 20
_MIDDLE = 128  # Zero of signed features.
_UNIT = 2  # Pixels per unit of a distance feature.
_CELL = 8.0  # Pixels per cell.
_ROWS_ABOVE, _COLUMNS_BEHIND = 8, 6
# Kinds: 255 is harmful, 192 can be stomped, 128 carries Mario. Each has a plane of the map.
_HARMFUL, _KIND_STEP, _PLANES = 255.0, 63.0, 3
#: Features of an object that a map reads: its kind, two distances, its type and its angle.
NOW = ("kind", "x", "y", "type", "angle")
NEXT = ("kind", "next_x", "next_y", "type", "next_angle")
# Fire bars: rows of balls, one cell each, that rotate around a center.
_BARS, _LONG_BAR, _BALLS, _BALLS_OF_LONG = (0x1B * 4, 0x1F * 4), 0x1F * 4, 6, 12
_BALL_MIDDLE = 4.0
_TURN = 256.0


@dataclass(frozen=True)
class MapTables:
    """Geometry of the map, for drawing it without torch.

    Attributes:
        objects: Feature indices of kind, x, y, type and angle of each object.
        shape: (planes, rows, columns).
        columns_behind: Number of columns to the left of Mario.
        rows_above: Number of rows above Mario.
        cell_pixels: Width and height of a cell, in pixels.
        unit_pixels: Pixels per unit of a distance feature.
        middle: Byte that means a distance of 0.
        plane_of_kind: Plane of each kind, [256]; kinds without a plane are not drawn.
        balls_of_type: Number of balls of each type of fire bar, [256]; 0 for other types.
        ball_middle: Pixels from the corner of a bar to the center of its first ball.
        ball_right: Horizontal pixels from the first ball to each ball, [256 angles, balls].
        ball_down: Vertical pixels from the first ball to each ball, [256 angles, balls].
    """

    objects: list[list[int]]
    shape: tuple[int, int, int]
    columns_behind: int
    rows_above: int
    cell_pixels: float
    unit_pixels: float
    middle: float
    plane_of_kind: Tensor
    balls_of_type: Tensor
    ball_middle: float
    ball_right: Tensor
    ball_down: Tensor


class ObjectMap(nn.Module):
    """Draws the objects in the features, [B, F] bytes, onto a map, [B, size]."""

    chosen: Tensor
    ball_right: Tensor
    ball_down: Tensor

    def __init__(self, features: Sequence[str], parts: Sequence[str] = NOW):
        """Locates the objects among the features.

        Args:
            features: Names of the features.
            parts: Features of an object that the map reads, `NOW` or `NEXT`.
        """
        super().__init__()
        position = f"_{parts[1]}"
        objects = [
            name.removesuffix(position)
            for name in features
            if name.startswith("object") and name.endswith(position)
        ]
        if parts == NOW:  # `object1_next_x` ends with `_x`, too.
            objects = [name for name in objects if not name.endswith("_next")]
        chosen = [features.index(f"{name}_{part}") for part in parts for name in objects]
        self.size = _PLANES * ROWS * COLUMNS if objects else 0
        self.register_buffer("chosen", torch.tensor(chosen, dtype=torch.int64), persistent=False)
        away = _CELL * torch.arange(_BALLS_OF_LONG, dtype=torch.float32)
        turned = (torch.arange(256.0) * (2 * math.pi / _TURN)).unsqueeze(-1)
        self.register_buffer("ball_right", away * turned.sin(), persistent=False)
        self.register_buffer("ball_down", -away * turned.cos(), persistent=False)

    def forward(self, features: Tensor) -> Tensor:
        """Returns the map with ones at objects; objects off the map are omitted."""
        # An extra cell collects objects that are off the map.
        cells = features.new_zeros(len(features), self.size + 1)
        if self.size:
            listed = features.index_select(1, self.chosen).float()
            kind, x, y, sort, angle = listed.view(len(features), len(NOW), -1).unbind(1)
            right, down = (x - _MIDDLE) * _UNIT, (y - _MIDDLE) * _UNIT
            bar = (sort >= _BARS[0]) & (sort <= _BARS[1]) & (kind > 0)
            cells.scatter_(1, self._cells(kind.where(~bar, 0), right, down), 1)
            if bool(bar.any()):
                ball = torch.arange(_BALLS_OF_LONG, device=bar.device)
                there = bar.unsqueeze(-1) & (ball < _ball_count(sort).unsqueeze(-1))
                turn = angle.to(torch.int64)
                right = right.unsqueeze(-1) + _BALL_MIDDLE + self.ball_right[turn]
                down = down.unsqueeze(-1) + _BALL_MIDDLE + self.ball_down[turn]
                harm = torch.where(there, _HARMFUL, 0.0)
                cells.scatter_(1, self._cells(harm, right, down).flatten(1), 1)
        return cells[:, : self.size]

    def tables(self) -> MapTables:
        """Returns the geometry of the map."""
        every = torch.arange(256.0)
        bars = (every >= _BARS[0]) & (every <= _BARS[1])
        return MapTables(
            objects=self.chosen.view(len(NOW), -1).t().tolist(),
            shape=(_PLANES, ROWS, COLUMNS),
            columns_behind=_COLUMNS_BEHIND,
            rows_above=_ROWS_ABOVE,
            cell_pixels=_CELL,
            unit_pixels=_UNIT,
            middle=_MIDDLE,
            plane_of_kind=_plane(every).to(torch.uint8),
            balls_of_type=_ball_count(every).where(bars, 0).to(torch.uint8),
            ball_middle=_BALL_MIDDLE,
            ball_right=self.ball_right,
            ball_down=self.ball_down,
        )

    def _cells(self, kind: Tensor, right: Tensor, down: Tensor) -> Tensor:
        """Returns the cell indices at pixel offsets from Mario; the extra cell if off the map."""
        column = (right / _CELL).floor() + _COLUMNS_BEHIND
        row = (down / _CELL).floor() + _ROWS_ABOVE
        inside = (row >= 0) & (row < ROWS) & (column >= 0) & (column < COLUMNS)
        plane = _plane(kind)
        cell = (plane * ROWS + row) * COLUMNS + column
        return torch.where(inside & (plane < _PLANES), cell, float(self.size)).to(torch.int64)


def _plane(kind: Tensor) -> Tensor:
    """Returns the plane of each kind; out of range for kinds that are not drawn."""
    return ((_HARMFUL - kind) / _KIND_STEP).floor()


def _ball_count(sort: Tensor) -> Tensor:
    """Returns the number of balls of each fire bar."""
    return torch.where(sort == _LONG_BAR, _BALLS_OF_LONG, _BALLS)
