"""The object map: cells by distance, planes by kind, nothing off the map."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from warpzone.models.object_map import COLUMNS, NEXT, NOW, ROWS, ObjectMap

PARTS = ("kind", "type", "x", "y", "angle")
NAMES = ["y", *(f"object{i}_{part}" for i in (1, 2) for part in PARTS)]
HARMFUL, STOMPABLE, PLATFORM, ITEM = 255, 192, 128, 64


def drawn(*objects: tuple[int, int, int]) -> Tensor:
    """Returns the map with an object of a kind at a pixel offset from Mario."""
    values = {"y": 99}
    for number, (kind, x, y) in enumerate(objects, 1):
        values |= {f"object{number}_kind": kind, f"object{number}_type": 6}
        values |= {f"object{number}_x": 128 + x // 2, f"object{number}_y": 128 + y // 2}
    features = torch.tensor([[values.get(name, 0) for name in NAMES]], dtype=torch.uint8)
    cells: Tensor = ObjectMap(NAMES)(features)
    return cells.view(3, ROWS, COLUMNS)


@pytest.mark.parametrize(("kind", "plane"), [(HARMFUL, 0), (STOMPABLE, 1), (PLATFORM, 2)])
def test_an_object_has_one_cell_in_the_plane_of_its_kind(kind: int, plane: int) -> None:
    cells = drawn((kind, 16, -8))
    assert cells.sum() == 1
    assert cells[plane, 7, 8] == 1


def test_half_a_tile_further_is_the_next_cell() -> None:
    for x, column in ((-1, 5), (0, 6), (6, 6), (8, 7)):
        assert drawn((HARMFUL, x, 0))[0, 8, column] == 1, x


def test_items_and_distant_objects_are_not_drawn() -> None:
    assert drawn((ITEM, 0, 0)).sum() == 0
    for x, y in ((-50, 0), (112, 0), (0, -66), (0, 64)):
        assert drawn((HARMFUL, x, y)).sum() == 0, (x, y)
    for x, y in ((-48, 0), (110, 0), (0, -64), (0, 62)):
        assert drawn((HARMFUL, x, y)).sum() == 1, (x, y)


def bar(angle: int, *, long: bool = False) -> Tensor:
    """Returns the harmful plane with a fire bar 40 pixels to the right of Mario."""
    values = {"object1_kind": HARMFUL, "object1_type": (0x1F if long else 0x1B) * 4}
    values |= {"object1_x": 128 + 20, "object1_y": 128, "object1_angle": angle * 8}
    features = torch.tensor([[values.get(name, 0) for name in NAMES]], dtype=torch.uint8)
    return ObjectMap(NAMES)(features).view(3, ROWS, COLUMNS)[0]


def test_a_fire_bar_is_a_rotating_row_of_balls() -> None:
    middle_row, middle_column = 8, 6 + 5
    up, right, down, left = (bar(angle) for angle in (0, 8, 16, 24))
    assert [int(cells.sum()) for cells in (up, right, down, left)] == [6, 6, 6, 6]
    assert up[middle_row - 5 : middle_row + 1, middle_column].sum() == 6
    assert down[middle_row : middle_row + 6, middle_column].sum() == 6
    assert right[middle_row, middle_column : middle_column + 6].sum() == 6
    assert left[middle_row, middle_column - 5 : middle_column + 1].sum() == 6


def test_a_long_fire_bar_has_twelve_balls() -> None:
    # Four of them are off the map: it reaches 8 cells up.
    assert bar(24, long=True).sum() == 12
    assert bar(0, long=True).sum() == 9


def test_objects_do_not_affect_each_other() -> None:
    both = drawn((HARMFUL, 40, 0), (STOMPABLE, -16, 24))
    assert torch.equal(both, drawn((HARMFUL, 40, 0)) + drawn((STOMPABLE, -16, 24)))


def test_features_without_objects_have_an_empty_map() -> None:
    empty = ObjectMap(["y", "page"])
    assert empty.size == 0
    assert empty(torch.zeros(3, 2, dtype=torch.uint8)).shape == (3, 0)


def test_the_map_ahead_reads_where_objects_will_be() -> None:
    now = ("kind", "type", "x", "y", "angle")
    ahead = ("next_x", "next_y", "next_angle")
    names = [f"object1_{part}" for part in (*now, *ahead)]
    names += [f"object2_{part}" for part in ("kind", "type", *ahead)]  # Only for the map ahead.
    values = {"object1_kind": HARMFUL, "object1_x": 128, "object1_y": 128}
    values |= {"object1_next_x": 128 + 8, "object1_next_y": 128}
    values |= {"object2_kind": STOMPABLE, "object2_next_x": 128, "object2_next_y": 128}
    features = torch.tensor([[values.get(name, 0) for name in names]], dtype=torch.uint8)
    shown = [
        ObjectMap(names, parts)(features).view(3, ROWS, COLUMNS).nonzero().tolist()
        for parts in (NOW, NEXT)
    ]
    assert shown == [[[0, 8, 6]], [[0, 8, 8], [1, 8, 6]]]
