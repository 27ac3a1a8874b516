"""Edge cases of schedules."""

from __future__ import annotations

import pytest

from warpzone.algorithms.schedules import lerp, scheduled


@pytest.mark.parametrize("shape", ["constant", "linear", "cosine"])
def test_a_schedule_starts_at_the_full_value(shape: str) -> None:
    assert scheduled(shape, 0.0, 0.1) == pytest.approx(1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", ["linear", "cosine"])
def test_a_schedule_ends_at_its_final_share_and_stays_there(shape: str) -> None:
    for progress in (1.0, 1.5):
        assert scheduled(shape, progress, 0.1) == pytest.approx(0.1)  # type: ignore[arg-type]


def test_warm_up_rises_from_zero() -> None:
    assert scheduled("cosine", 0.0, 0.1, warmup=0.2) == 0.0
    assert scheduled("cosine", 0.1, 0.1, warmup=0.2) == pytest.approx(0.5)
    assert scheduled("cosine", 0.2, 0.1, warmup=0.2) == pytest.approx(1.0)


def test_a_linear_schedule_is_half_way_down_in_the_middle() -> None:
    assert scheduled("linear", 0.5, 0.0) == pytest.approx(0.5)


def test_lerp_is_clamped() -> None:
    assert lerp(1.0, 3.0, -1.0) == 1.0
    assert lerp(1.0, 3.0, 0.25) == 1.5
    assert lerp(1.0, 3.0, 2.0) == 3.0
