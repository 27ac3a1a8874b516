"""Evaluation against policies whose results are known, and Wilson's interval."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from warpzone.evaluate.evaluation import evaluate
from warpzone.evaluate.wilson import wilson

RIGHT, NOTHING = 1, 0


class Constant:
    """Always the same action."""

    def __init__(self, action: int):
        self.action = action

    def __call__(self, obs: Any, first: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.full(len(first), self.action)


def test_standing_still_clears_nothing_and_is_cut(rom_path: Path) -> None:
    result = evaluate(
        Constant(NOTHING), "1-1", episodes=5, max_steps=20, obs="tiles", sticky_prob=0, noop_max=0
    )
    assert result.clear_rate == 0.0
    assert {episode.end for episode in result.episodes} == {"cut"}
    assert [episode.seed for episode in result.episodes] == [10_000 + i for i in range(5)]
    assert all(episode.progress == 0 for episode in result.episodes)


def test_running_right_on_1_1_meets_the_first_enemy(rom_path: Path) -> None:
    result = evaluate(
        Constant(RIGHT), "1-1", episodes=3, max_steps=200, obs="tiles", sticky_prob=0, noop_max=0
    )
    assert {episode.end for episode in result.episodes} == {"enemy"}
    assert result.summary()["ends"] == {"enemy": 3}
    assert len({episode.progress for episode in result.episodes}) == 1


def test_idle_starts_make_episodes_differ(rom_path: Path) -> None:
    result = evaluate(Constant(RIGHT), "1-1", episodes=12, max_steps=200, obs="tiles")
    assert len({episode.progress for episode in result.episodes}) > 1


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (5, 10, 0.2366, 0.7634),
        (10, 10, 0.7225, 1.0),
        (90, 100, 0.8256, 0.9448),
    ],
)
def test_wilson_agrees_with_published_values(
    successes: int, trials: int, low: float, high: float
) -> None:
    interval = wilson(successes, trials)
    assert interval.low == pytest.approx(low, abs=1e-4)
    assert interval.high == pytest.approx(high, abs=1e-4)


def test_wilson_knows_nothing_without_trials_and_refuses_nonsense() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="cannot be"):
        wilson(3, 2)
