"""Adaptive control follows the fraction of environments that move, within its bounds."""

from __future__ import annotations

import itertools
import random

import pytest

from warpzone.config import AdaptiveOptions
from warpzone.training.guidance.adaptive import AdaptiveControl, Scales


def bounds(options: AdaptiveOptions) -> list[tuple[float, float]]:
    return [options.distance_bounds, options.entropy_bounds, options.lr_bounds]


def within(scales: Scales, options: AdaptiveOptions) -> bool:
    pairs = zip(scales, bounds(options), strict=True)
    return all(low <= value <= high for value, (low, high) in pairs)


def test_scales_stay_within_bounds_over_ten_thousand_random_inputs() -> None:
    draw = random.Random(5)
    options = AdaptiveOptions(cool_down=0, window=3, smoothing=0.9)
    control = AdaptiveControl(options)
    seen = set()
    for _ in range(10_000):
        # Long stretches of one kind, so that every bound is met.
        centre = draw.choice((0.0, 0.5, 1.0))
        for _ in range(draw.randrange(1, 40)):
            control.observe(min(1.0, max(0.0, draw.gauss(centre, 0.2))))
            assert within(control.scales, options)
            seen.add(control.scales)
    assert Scales(*(low for low, _ in bounds(options))) in seen
    assert Scales(*(high for _, high in bounds(options))) in seen


def test_fewer_environments_that_move_never_give_a_smaller_scale() -> None:
    ends = []
    for share in (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0):
        control = AdaptiveControl(AdaptiveOptions())
        for _ in range(40):
            control.observe(share)
        ends.append(control.scales)
    for more, less in itertools.pairwise(ends):
        assert all(a >= b for a, b in zip(more, less, strict=True))
    assert ends[0].distance > 1.0 > ends[-1].distance
    assert ends[3] == Scales()


def test_changes_are_a_cool_down_apart() -> None:
    control = AdaptiveControl(AdaptiveOptions(cool_down=3))
    changes = [index for index in range(12) if control.observe(0.0)]
    assert changes == [0, 4, 8]


def test_one_outlier_changes_nothing() -> None:
    control = AdaptiveControl(AdaptiveOptions(cool_down=0))
    for _ in range(10):
        control.observe(0.5)
    assert not control.observe(0.0)
    assert not control.observe(0.5)


@pytest.mark.parametrize(("lock", "expected"), [(False, 0.002 * 1.25), (True, 0.01 * 1.25)])
def test_a_lock_keeps_annealing_from_changed_values(lock: bool, expected: float) -> None:
    control = AdaptiveControl(AdaptiveOptions(lock=lock))
    assert control.applied(control.scales.entropy, 0.01, 0.002) == 0.002
    control.observe(0.0)
    assert control.applied(control.scales.entropy, 0.01, 0.002) == pytest.approx(expected)


def test_a_saved_control_resumes_where_it_was() -> None:
    control = AdaptiveControl(AdaptiveOptions(cool_down=2))
    for share in (0.1, 0.0, 0.2, 0.9):
        control.observe(share)
    copy = AdaptiveControl(AdaptiveOptions(cool_down=2))
    copy.load_state_dict(control.state_dict())
    for share in (0.1, 0.0, 0.0, 0.2, 1.0, 1.0, 1.0):
        assert control.observe(share) == copy.observe(share)
        assert control.scales == copy.scales
