"""Evaluation against policies whose results are known, and Wilson's interval."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from warpzone.evaluation.evaluation import evaluate
from warpzone.evaluation.wilson import wilson

RIGHT, NOTHING = 1, 0


class Constant:
    """Always the same action."""

    def __init__(self, action: int):
        self.action = action

    def __call__(self, obs: Any, first: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.full(len(first), self.action)


class Sequence:
    """The same actions in every environment, one after the other, then again."""

    def __init__(self, actions: list[int]):
        self.actions = actions
        self.step = 0

    def __call__(self, obs: Any, first: NDArray[np.bool_]) -> NDArray[np.int64]:
        action = self.actions[self.step % len(self.actions)]
        self.step += 1
        return np.full(len(first), action)


class ToTheFlag(Sequence):
    """Runs and jumps to the right, which clears 1-1 from near its end, then stands still."""

    def __init__(self) -> None:
        super().__init__([*[4] * 8, *[3] * 4] * 12 + [NOTHING] * 600)


def test_standing_still_clears_nothing_and_is_truncated(rom_path: Path) -> None:
    result = evaluate(
        Constant(NOTHING), "1-1", episodes=5, max_steps=20, obs="tiles", sticky_prob=0, noop_max=0
    )
    assert result.clear_rate == 0.0
    assert {episode.end for episode in result.episodes} == {"step_limit"}
    assert [episode.seed for episode in result.episodes] == [10_000 + i for i in range(5)]
    assert all(episode.progress == 0 for episode in result.episodes)


def test_running_right_on_1_1_meets_the_first_enemy(rom_path: Path) -> None:
    result = evaluate(
        Constant(RIGHT), "1-1", episodes=3, max_steps=200, obs="tiles", sticky_prob=0, noop_max=0
    )
    assert {episode.end for episode in result.episodes} == {"enemy"}
    assert result.summary()["ends"] == {"enemy": 3}
    assert len({episode.progress for episode in result.episodes}) == 1


def test_lost_episodes_are_counted_by_page_and_cause(rom_path: Path) -> None:
    result = evaluate(
        Constant(RIGHT), "1-1", episodes=3, max_steps=200, obs="tiles", sticky_prob=0, noop_max=0
    )
    # The first Goomba comes from the right edge of the first screen.
    assert result.summary()["losses"] == [{"level": "1-1", "x": 256, "cause": "enemy", "count": 3}]


def test_idle_starts_make_episodes_differ(rom_path: Path) -> None:
    result = evaluate(Constant(RIGHT), "1-1", episodes=12, max_steps=200, obs="tiles")
    assert len({episode.progress for episode in result.episodes}) > 1


def test_a_cleared_level_of_a_whole_game_is_not_a_cleared_game(
    before_the_flag: bytes, rom_path: Path
) -> None:
    result = evaluate(
        ToTheFlag(),
        "game",
        episodes=2,
        max_steps=300,
        obs="tiles",
        sticky_prob=0,
        noop_max=0,
        start_state=before_the_flag,
    )
    assert result.clears == 0
    assert {episode.end for episode in result.episodes} == {"step_limit"}
    assert [episode.levels_cleared for episode in result.episodes] == [1, 1]
    summary = result.summary()
    assert (summary["levels_cleared_mean"], summary["levels_cleared_max"]) == (1.0, 1)


def test_lost_lives_of_a_whole_game_are_counted(rom_path: Path) -> None:
    result = evaluate(
        Constant(RIGHT), "game", episodes=2, max_steps=1500, obs="tiles", sticky_prob=0, noop_max=0
    )
    assert result.summary()["ends"] == {"game_over": 2}
    assert result.summary()["deaths"] == 6
    assert result.clear_rate == 0.0


def test_the_rescued_princess_clears_the_game(
    before_the_last_axe: tuple[bytes, list[int]], rom_path: Path
) -> None:
    state, inputs = before_the_last_axe
    buttons = sorted(set(inputs))
    policy = Sequence([buttons.index(pressed) for pressed in inputs])
    result = evaluate(
        policy,
        "game",
        episodes=2,
        obs="tiles",
        sticky_prob=0,
        noop_max=0,
        start_state=state,
        actions=buttons,
    )
    assert result.clear_rate == 1.0
    assert result.summary()["ends"] == {"clear": 2}


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
