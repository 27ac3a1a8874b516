"""Bins of features: weights that sum to one, separate categories, real feature names."""

from __future__ import annotations

import pytest
import torch

from warpzone import _native
from warpzone.models.feature_bins import FeatureBins, levels_of

EVERY_BYTE = torch.arange(256, dtype=torch.uint8).unsqueeze(1)
NAMES = [_native.feature_name(i) for i in range(_native.FEATURE_COUNT)]
TRUTHS = {
    *("on_ground", "jumping", "falling", "climbing", "swimming", "crouching", "in_control"),
    *("button_a", "button_b", "button_select", "button_start"),
    *("button_up", "button_down", "button_left", "button_right"),
    *("facing_right", "water", "ground", "underground", "castle", "scroll_locked"),
}


@pytest.mark.parametrize("name", ["x_speed", "y", "page", "object1_x", "object5_y", "object2_type"])
def test_a_value_is_interpolated_between_neighboring_bins(name: str) -> None:
    levels = torch.tensor(levels_of(name))
    shares = FeatureBins([levels.tolist()])(EVERY_BYTE)
    assert torch.allclose(shares.sum(1), torch.ones(256))
    assert ((shares > 0).sum(1) <= 2).all()
    inside = torch.arange(256.0).clamp(float(levels[0]), float(levels[-1]))
    assert torch.allclose(shares @ levels, inside, atol=1e-3)


def test_features_get_the_bins_of_their_own_levels() -> None:
    bins = FeatureBins([[0.0, 255.0], [], [0.0, 100.0]])
    shares = bins(torch.tensor([[51, 200, 50], [255, 0, 200]], dtype=torch.uint8))
    assert bins.size == 4
    assert torch.allclose(shares, torch.tensor([[0.8, 0.2, 0.5, 0.5], [0.0, 1.0, 0.0, 1.0]]))


def test_features_with_the_same_number_of_bins_are_adjacent() -> None:
    bins = FeatureBins([[0.0, 255.0], [0.0, 100.0, 200.0], [55.0, 255.0]])
    shares = bins(torch.tensor([[255, 100, 55]], dtype=torch.uint8))
    assert shares.tolist() == [[0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0]]


def test_only_booleans_have_no_bins() -> None:
    described = NAMES[: NAMES.index("place") + 3]
    assert {name for name in described if not levels_of(name)} == TRUTHS


@pytest.mark.parametrize("name", ["place", "far_place"])
def test_every_column_of_a_level_has_its_own_bin(name: str) -> None:
    shares = FeatureBins([levels_of(name)])(EVERY_BYTE)
    assert torch.equal(shares[:, :256], torch.eye(256))


def test_bins_are_fine_near_an_enemy_and_coarse_far_away() -> None:
    shares = FeatureBins([levels_of("object1_x")])(EVERY_BYTE)
    near = (shares[128] - shares[132]).abs().sum()
    far = (shares[240] - shares[244]).abs().sum()
    assert near == 2.0
    assert far < 0.5


def test_bins_are_not_part_of_a_checkpoint() -> None:
    assert FeatureBins([[0.0, 255.0]]).state_dict() == {}
