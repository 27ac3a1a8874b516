"""Estimates of where episodes fail, and practice weights of places."""

from __future__ import annotations

import numpy as np
import pytest

from warpzone.training.curriculum.hazards import Hazards

PLACES = np.arange(0, 3200, 64)


def weights(hazards: Hazards) -> np.ndarray:
    return hazards.weights(PLACES)


def test_without_episodes_all_places_have_equal_weight() -> None:
    assert weights(Hazards(64)) == pytest.approx(np.full(50, 1 / 50))


def test_places_before_a_hazard_have_the_largest_weight() -> None:
    hazards = Hazards(64)
    for _ in range(200):
        hazards.ended(0, 1300, lost=True)  # In the stretch from 1280 on.
        hazards.ended(1344, 3100, lost=False)
    found = weights(hazards)
    before = (PLACES > 1280 - 5 * 64) & (PLACES <= 1280)
    assert before.sum() == 5
    assert found[before].min() > 10 * found[~before].max()
    assert found.sum() == pytest.approx(1.0)


def test_a_hazard_fades_when_it_is_passed_and_stays_when_it_is_not_reached() -> None:
    hazards = Hazards(64)
    for _ in range(200):
        hazards.ended(0, 640, lost=True)
    much = weights(hazards)[10]
    hazards.ended(704, 3100, lost=False)
    assert weights(hazards)[10] == much
    for _ in range(500):
        hazards.ended(0, 3100, lost=False)
    assert weights(hazards)[10] == pytest.approx(1 / 50, rel=0.2)


def test_a_clear_is_not_a_hazard() -> None:
    hazards = Hazards(64)
    hazards.ended(0, 3100, lost=False)
    assert weights(hazards) == pytest.approx(np.full(50, 1 / 50))


def test_negative_progress_counts_as_zero() -> None:
    hazards = Hazards(64)
    hazards.ended(-20, -5, lost=True)
    assert weights(hazards)[0] > weights(hazards)[1]


def test_a_saved_state_is_restored() -> None:
    hazards, other = Hazards(64), Hazards(64)
    hazards.ended(0, 700, lost=True)
    other.load_state_dict(hazards.state_dict())
    assert np.array_equal(weights(other), weights(hazards))
