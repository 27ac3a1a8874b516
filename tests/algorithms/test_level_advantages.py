"""Advantages by level: equal magnitude, a floor, and an exact resume."""

from __future__ import annotations

import torch

from warpzone.algorithms.level_advantages import LevelAdvantages

EVERYTHING = torch.ones(64, 4, dtype=torch.bool)
LEVELS = torch.arange(4).repeat(64, 1) % 2


def advantages(*scales: float) -> torch.Tensor:
    noise = torch.randn(64, 4, generator=torch.Generator().manual_seed(0))
    return noise * torch.tensor(scales)[LEVELS]


def test_every_level_gets_the_same_magnitude() -> None:
    result = LevelAdvantages(2).normalized(advantages(1.0, 3.0), LEVELS, EVERYTHING)
    for level in (0, 1):
        assert torch.allclose(result[level == LEVELS].square().mean(), torch.tensor(1.0))


def test_signs_and_ratios_within_a_level_are_kept() -> None:
    given = advantages(1.0, 3.0)
    result = LevelAdvantages(2).normalized(given, LEVELS, EVERYTHING)
    ratios = (result / given)[LEVELS == 1]
    assert torch.allclose(ratios, ratios[0].expand_as(ratios))
    assert ratios[0] > 0


def test_noise_of_a_level_with_tiny_advantages_is_not_amplified() -> None:
    result = LevelAdvantages(2).normalized(advantages(1e-6, 1.0), LEVELS, EVERYTHING)
    assert result[LEVELS == 0].abs().max() < 1e-4


def test_steps_that_are_not_learned_from_do_not_count() -> None:
    given, mask = advantages(1.0, 1.0), EVERYTHING.clone()
    given[0], mask[0] = 1e6, False
    result = LevelAdvantages(2).normalized(given, LEVELS, mask)
    assert 0.5 < result[1:].square().mean() < 2.0


def test_magnitudes_are_remembered_and_restored() -> None:
    first, second = LevelAdvantages(2), LevelAdvantages(2)
    first.normalized(advantages(5.0, 1.0), LEVELS, EVERYTHING)
    second.load_state_dict(first.state_dict())
    rare = torch.zeros(1, 1, dtype=torch.int64)
    given, mask = torch.ones(1, 1), torch.ones(1, 1, dtype=torch.bool)
    result = first.normalized(given, rare, mask)
    assert 0.15 < result.item() < 0.25, "one step hardly changes the magnitude"
    assert torch.equal(result, second.normalized(given, rare, mask))
