"""A rescue comes if nothing moves or improves, with a cool-down in between."""

from __future__ import annotations

from warpzone.config import RescueOptions
from warpzone.training.guidance.rescue import STUCK_PIXELS, Rescue


def reasons(rescue: Rescue, pixels: list[float], best: float = 0.0) -> list[str | None]:
    return [rescue.look(value, best, clearing=False) for value in pixels]


def test_a_stuck_policy_is_rescued_after_n_updates_and_after_each_cool_down() -> None:
    rescue = Rescue(RescueOptions(after=3, cool_down=4))
    found = reasons(rescue, [0, STUCK_PIXELS, 1, 0, 0, 0, 0, 0, 0])
    assert [index for index, reason in enumerate(found) if reason] == [2, 7]
    assert rescue.count == 2


def test_progress_resets_the_count() -> None:
    rescue = Rescue(RescueOptions(after=3))
    assert reasons(rescue, [0, 0, STUCK_PIXELS + 1, 0, 0]) == [None] * 5
    assert reasons(rescue, [0]) == ["stuck"]


def test_a_plateau_is_the_best_that_does_not_rise_unless_levels_are_cleared() -> None:
    rescue = Rescue(RescueOptions(after=0, plateau=2, cool_down=0))
    assert rescue.look(500, best=100, clearing=False) is None
    assert rescue.look(500, best=100, clearing=False) is None
    assert rescue.look(500, best=100, clearing=False) == "plateau"
    assert rescue.look(500, best=120, clearing=False) is None
    for _ in range(10):
        assert rescue.look(500, best=120, clearing=True) is None


def test_zero_disables_each_kind_of_rescue() -> None:
    rescue = Rescue(RescueOptions(after=0, plateau=0))
    assert reasons(rescue, [0.0] * 100) == [None] * 100


def test_a_saved_rescue_resumes_where_it_was() -> None:
    options = RescueOptions(after=3, plateau=5, cool_down=2)
    rescue = Rescue(options)
    reasons(rescue, [0, 0], best=7)
    copy = Rescue(options)
    copy.load_state_dict(rescue.state_dict())
    rest = [0.0, 900, 0, 0, 0, 0, 0, 900, 900, 900]
    assert reasons(rescue, rest, best=7) == reasons(copy, rest, best=7)
    assert rescue.count == copy.count > 1
