"""The terrain map: a cell per distance between a tile and Mario, nothing off the map."""

from __future__ import annotations

import torch

from warpzone.models.terrain_map import COLUMNS, ROWS, TerrainMap

NAMES = ["x_in_tile", "y"]
SHAPE = (2, 13, 16)
PLANE = 1


def drawn(tiles: list[tuple[int, int]], x_in_tile: int = 0, y: int = 160) -> list[list[int]]:
    """Returns rows and columns of the cells that are set, for tiles by row and column."""
    grid = torch.zeros(1, *SHAPE, dtype=torch.uint8)
    for row, column in tiles:
        grid[0, PLANE, row, column] = 255
    features = torch.tensor([[16 * x_in_tile, y]], dtype=torch.uint8)
    cells = TerrainMap(SHAPE, PLANE, NAMES)(grid, features).view(ROWS, COLUMNS)
    assert int(cells.sum()) == len(cells.nonzero())
    return cells.nonzero().tolist()


def test_the_ground_under_mario_lies_32_pixels_below_his_upper_edge() -> None:
    # His own column is the sixth; row 10 begins at 32 + 160 pixels.
    assert drawn([(10, 5)]) == [[6 + 4, 10]]


def test_four_pixels_are_a_cell() -> None:
    columns = [drawn([(10, 8)], x_in_tile=x)[0][1] for x in range(8)]
    assert columns == [22, 21, 21, 21, 21, 20, 20, 20]
    # From the middle of a tile on, the grid begins one column further to the right.
    assert drawn([(10, 8)], x_in_tile=8)[0][1] == 10 + (48 + 8) // 4


def test_mario_rises_by_eight_pixels_into_the_next_cell() -> None:
    rows = [drawn([(10, 5)], y=160 - rise)[0][0] for rise in (0, 7, 8, 16)]
    assert rows == [10, 10, 11, 12]


def test_tiles_of_other_planes_and_far_tiles_are_not_drawn() -> None:
    grid = torch.zeros(1, *SHAPE, dtype=torch.uint8)
    grid[0, 1 - PLANE] = 255
    features = torch.tensor([[0, 160]], dtype=torch.uint8)
    assert TerrainMap(SHAPE, PLANE, NAMES)(grid, features).sum() == 0
    assert drawn([(10, 0), (0, 5), (10, 13)]) == []
