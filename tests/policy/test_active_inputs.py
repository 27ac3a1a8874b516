"""Lists of active inputs describe the vectors of the dense encoder, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from policy_support import (
    FEATURES,
    LEVELS,
    Observations,
    dense,
    grid_shape,
    layout_of,
    listed,
    make_encoder,
    played,
    played_along_solutions,
)

from warpzone import _native
from warpzone.errors import ConfigError


def assert_same_vectors(stack: int, obs: Observations, version: int = 2) -> NDArray[np.uint16]:
    encoder = make_encoder(stack, version=version)
    layout = layout_of(encoder, stack)
    rows = listed(layout, obs)
    expected = dense(encoder, obs)
    found = np.zeros_like(expected)
    layout.expand(rows, found)
    np.testing.assert_array_equal(found.view(np.uint32), expected.view(np.uint32))
    return rows


@pytest.mark.parametrize(("stack", "version"), [(1, 2), (2, 1), (2, 2), (4, 2)])
def test_lists_describe_the_dense_vector_in_many_levels(
    stack: int, version: int, rom_path: object
) -> None:
    rows = assert_same_vectors(stack, played(LEVELS, 150, stack=stack), version)
    # Short lists are the point.
    assert rows[:, :2].sum(1).mean() < 160


def test_lists_describe_the_dense_vector_all_along_hard_levels(rom_path: object) -> None:
    # Mazes, fire bars long and short, water, hammers and lifts.
    obs = played_along_solutions(("8-4", "1-4", "2-2", "4-4", "8-3", "5-4", "7-4"), 12)
    assert (obs.features[:, FEATURES.index("object1_angle")] > 0).any()
    assert (obs.features[:, FEATURES.index("loop_passes")] > 0).any()
    assert (obs.features[:, FEATURES.index("swimming")] > 0).any()
    assert_same_vectors(2, obs)


@pytest.mark.parametrize("version", [1, 2])
def test_lists_describe_the_dense_vector_for_any_features(version: int) -> None:
    random = np.random.default_rng(0)
    features = random.integers(0, 256, (4000, len(FEATURES)), dtype=np.uint8)
    tiles = np.where(
        random.random((4000, *grid_shape(2))) < 0.05, random.integers(1, 256), 0
    ).astype(np.uint8)
    assert_same_vectors(2, Observations(tiles, features), version)


def test_version_2_has_the_inputs_of_version_1_first(rom_path: object) -> None:
    obs = played(("8-3", "6-4"), 100)
    first, second = (dense(make_encoder(version=version), obs) for version in (1, 2))
    np.testing.assert_array_equal(second[:, : first.shape[1]], first)
    assert second[:, first.shape[1] :].any(0).sum() > 20


def test_fire_bars_are_drawn_in_the_same_cells_at_every_angle_and_distance() -> None:
    names = [f"object2_{part}" for part in ("kind", "type", "x", "y", "angle")]
    kind, sort, x, y, angle = (FEATURES.index(name) for name in names)
    turns, places = np.meshgrid(np.arange(256), np.arange(256), indexing="ij")
    for bar in (0x1B, 0x1F):
        features = np.zeros((256 * 256, len(FEATURES)), np.uint8)
        features[:, kind], features[:, sort] = 255, 4 * bar
        features[:, angle], features[:, x] = turns.ravel(), places.ravel()
        features[:, y] = 255 - places.ravel()
        chosen = features[:: 7 if bar == 0x1B else 5]
        tiles = np.zeros((len(chosen), *grid_shape(2)), np.uint8)
        assert_same_vectors(2, Observations(tiles, chosen))


def test_a_feature_in_its_default_state_adds_nothing() -> None:
    layout = layout_of(make_encoder())
    away = ("x_speed", "y_speed", "object1_x", "object5_y", "object3_speed", "object2_fall")
    features = np.zeros((1, len(FEATURES)), np.uint8)
    for name in FEATURES:
        if name in away or (name.startswith("object") and name.split("_")[-1] in "x y speed fall"):
            features[0, FEATURES.index(name)] = 128
    rows = listed(layout, Observations(np.zeros((1, *grid_shape(2)), np.uint8), features))
    assert rows[0, :2].tolist() == [0, 0]


def test_more_cells_than_a_list_holds_are_refused() -> None:
    layout = layout_of(make_encoder())
    tiles = np.full((1, *grid_shape(2)), 255, np.uint8)
    with pytest.raises(RuntimeError, match="more cells of the tile grid are set"):
        listed(layout, Observations(tiles, np.zeros((1, len(FEATURES)), np.uint8)))


def test_tables_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ConfigError, match="there are 0 inputs"):
        _native.ActiveLayout(
            base=np.zeros(0, np.float32),
            grid_planes=1,
            cells=1,
            planes=[0],
            cell_values=np.zeros(256, np.float32),
            most_cells=1,
            feature_offsets=np.zeros(1, np.int32),
            feature_inputs=np.zeros(0, np.uint16),
            feature_values=np.zeros(0, np.float32),
            maps=[
                _native.ObjectMapTables(
                    first_input=0,
                    objects=[],
                    shape=(0, 0, 0),
                    columns_behind=0,
                    rows_above=0,
                    cell_pixels=8.0,
                    unit_pixels=2.0,
                    middle=128.0,
                    plane_of_kind=np.zeros(256, np.uint8),
                    balls_of_type=np.zeros(256, np.uint8),
                    ball_middle=4.0,
                    ball_right=np.zeros(0, np.float32),
                    ball_down=np.zeros(0, np.float32),
                )
            ],
            terrain=None,
        )
