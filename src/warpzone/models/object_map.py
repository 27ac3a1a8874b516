"""A map of the objects around Mario, at half the size of a tile and always relative to him.

Whether an enemy is in the way depends on how far it is across and how far down, taken together. In
the tile grid that pair is spread over rows and halves of tiles, and among the features over two
numbers; here each pair has a cell of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

ROWS, COLUMNS = 16, 20
_MIDDLE = 128  # Of features with a sign.
_UNIT = 2  # Pixels of a distance among the features.
_CELL = 8.0  # Pixels.
_ROWS_ABOVE, _COLUMNS_BEHIND = 8, 6
# Kinds are 255 harmful, 192 can be jumped on, 128 carries Mario: a plane of the map each.
_HARMFUL, _KIND_STEP, _PLANES = 255.0, 63.0, 3
_PARTS = ("kind", "x", "y", "type", "angle")
# Fire bars: rows of balls, a cell each, that turn around a middle.
_BARS, _LONG_BAR, _BALLS, _BALLS_OF_LONG = (0x1B * 4, 0x1F * 4), 0x1F * 4, 6, 12
_BALL_MIDDLE = 4.0
_TURN = 256.0


@dataclass(frozen=True)
class MapTables:
    """The whole geometry of a map, for whoever draws it without torch.

    Attributes:
        objects: Positions of kind, x, y, type and angle of each object among the features.
        shape: (planes, rows, columns).
        columns_behind: Columns to the left of Mario.
        rows_above: Rows above Mario.
        cell_pixels: Width and height of a cell.
        unit_pixels: Pixels of a distance among the features.
        middle: The byte that means no distance.
        plane_of_kind: Plane of each kind, [256]; kinds without a plane are not drawn.
        balls_of_type: Balls of each type of fire bar, [256]; 0 for other types.
        ball_middle: Pixels from the corner of a bar to the middle of its first ball.
        ball_right: Pixels from the first ball of a bar to each, [256 angles, balls].
        ball_down: The same downwards.
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
    """Draws the objects that features list, [B, F] bytes, into cells, [B, size]."""

    chosen: Tensor
    ball_right: Tensor
    ball_down: Tensor

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
        away = _CELL * torch.arange(_BALLS_OF_LONG, dtype=torch.float32)
        turned = (torch.arange(256.0) * (2 * math.pi / _TURN)).unsqueeze(-1)
        self.register_buffer("ball_right", away * turned.sin(), persistent=False)
        self.register_buffer("ball_down", -away * turned.cos(), persistent=False)

    def forward(self, features: Tensor) -> Tensor:
        """Ones where objects are; those off the map are left out."""
        # One cell more takes what is not on the map.
        cells = features.new_zeros(len(features), self.size + 1)
        if self.size:
            listed = features.index_select(1, self.chosen).float()
            kind, x, y, sort, angle = listed.view(len(features), len(_PARTS), -1).unbind(1)
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
        """The geometry of the map."""
        every = torch.arange(256.0)
        bars = (every >= _BARS[0]) & (every <= _BARS[1])
        return MapTables(
            objects=self.chosen.view(len(_PARTS), -1).t().tolist(),
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
        """Numbers of the cells at some pixels right of and below Mario; the last for none."""
        column = (right / _CELL).floor() + _COLUMNS_BEHIND
        row = (down / _CELL).floor() + _ROWS_ABOVE
        inside = (row >= 0) & (row < ROWS) & (column >= 0) & (column < COLUMNS)
        plane = _plane(kind)
        cell = (plane * ROWS + row) * COLUMNS + column
        return torch.where(inside & (plane < _PLANES), cell, float(self.size)).to(torch.int64)


def _plane(kind: Tensor) -> Tensor:
    """The plane of each kind; those of kinds that are not drawn do not exist."""
    return ((_HARMFUL - kind) / _KIND_STEP).floor()


def _ball_count(sort: Tensor) -> Tensor:
    """Balls of each fire bar."""
    return torch.where(sort == _LONG_BAR, _BALLS_OF_LONG, _BALLS)
