"""Map of the solid tiles around Mario, relative to his exact position.

The tile grid moves with Mario in whole columns, and its rows are those of the screen. Whether a
jump reaches a ledge depends on a few pixels, which a linear layer can hardly combine with the grid;
here, each distance between a tile and Mario has its own cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

ROWS, COLUMNS = 18, 40
_CELL_HEIGHT, _CELL_WIDTH = 8, 4  # In pixels.
_ROWS_ABOVE, _COLUMNS_BEHIND = 6, 10
_TILE = 16  # Pixels.
_TOP_OF_GRID = 32  # Pixels from the top of the screen.
_MARIO_COLUMN = 5  # The column of the grid that is nearest to Mario.
_X_STEP = 16  # Of the feature `x_in_tile`, per pixel.


@dataclass(frozen=True)
class TerrainTables:
    """Geometry of the map, for drawing it without torch.

    Attributes:
        shape: (rows, columns).
        rows_above: Rows above Mario's upper edge.
        columns_behind: Columns to the left of Mario's left edge.
        cell_pixels: Height and width of a cell.
        grid_plane: Plane of the stacked grids that is drawn.
        grid_shape: Rows and columns of a grid.
        tile_pixels: Width and height of a tile.
        x_feature: Index of the feature that tells Mario's position within a tile.
        y_feature: Index of the feature that tells Mario's height.
        x_pixels: Distance from Mario to the first column of the grid, by `x_feature`, [256].
        y_pixels: Distance from Mario to the first row of the grid, by `y_feature`, [256].
    """

    shape: tuple[int, int]
    rows_above: int
    columns_behind: int
    cell_pixels: tuple[int, int]
    grid_plane: int
    grid_shape: tuple[int, int]
    tile_pixels: int
    x_feature: int
    y_feature: int
    x_pixels: Tensor
    y_pixels: Tensor


class TerrainMap(nn.Module):
    """Draws the solid tiles of grids, [B, C, H, W] bytes, onto a map, [B, size]."""

    x_pixels: Tensor
    y_pixels: Tensor

    def __init__(self, shape: tuple[int, int, int], plane: int, features: Sequence[str]):
        """Locates Mario's position among the features.

        Args:
            shape: Shape of the stacked grids.
            plane: Plane to draw.
            features: Names of the features.
        """
        super().__init__()
        self.size = ROWS * COLUMNS
        self._plane, self._grid = plane, (shape[1], shape[2])
        self._x, self._y = features.index("x_in_tile"), features.index("y")
        byte = torch.arange(256, dtype=torch.int32)
        within = byte // _X_STEP
        # The grid is aligned with the tile nearest to Mario, which may begin to the right of him.
        left = within - torch.where(within >= _TILE // 2, _TILE, 0)
        self.register_buffer("x_pixels", -_MARIO_COLUMN * _TILE - left, persistent=False)
        self.register_buffer("y_pixels", _TOP_OF_GRID - byte, persistent=False)

    def forward(self, tiles: Tensor, features: Tensor) -> Tensor:
        """Returns the map with ones at solid tiles; tiles off the map are omitted."""
        x, y = features[:, self._x].long(), features[:, self._y].long()
        rows, columns = (
            first[at].unsqueeze(1) + _TILE * torch.arange(count, device=tiles.device)
            for first, at, count in zip(
                (self.y_pixels, self.x_pixels), (y, x), self._grid, strict=True
            )
        )
        row = rows.div(_CELL_HEIGHT, rounding_mode="floor") + _ROWS_ABOVE
        column = columns.div(_CELL_WIDTH, rounding_mode="floor") + _COLUMNS_BEHIND
        inside = ((row >= 0) & (row < ROWS)).unsqueeze(2)
        inside = inside & ((column >= 0) & (column < COLUMNS)).unsqueeze(1)
        drawn = inside & (tiles[:, self._plane] != 0)
        cell = row.unsqueeze(2) * COLUMNS + column.unsqueeze(1)
        # An extra cell collects what is not drawn.
        cells = tiles.new_zeros(len(tiles), self.size + 1)
        cells.scatter_(1, torch.where(drawn, cell, self.size).flatten(1).long(), 1)
        return cells[:, : self.size]

    def tables(self) -> TerrainTables:
        """Returns the geometry of the map."""
        return TerrainTables(
            shape=(ROWS, COLUMNS),
            rows_above=_ROWS_ABOVE,
            columns_behind=_COLUMNS_BEHIND,
            cell_pixels=(_CELL_HEIGHT, _CELL_WIDTH),
            grid_plane=self._plane,
            grid_shape=self._grid,
            tile_pixels=_TILE,
            x_feature=self._x,
            y_feature=self._y,
            x_pixels=self.x_pixels,
            y_pixels=self.y_pixels,
        )
