"""Environments play the levels that need practice."""

from __future__ import annotations

from collections import Counter

import pytest

from warpzone.training.curriculum.levels import LevelCurriculum, RandomLevels

LEVELS = ["1-1", "1-2", "1-3"]


def play(curriculum: LevelCurriculum, episodes: int, steps: dict[str, int]) -> Counter[str]:
    """Returns the steps that each level gets for given episode lengths."""
    total: Counter[str] = Counter()
    for _ in range(episodes):
        level = curriculum.next_level()
        curriculum.played(level, steps[level])
        total[level] += steps[level]
    return total


def test_unknown_levels_get_equal_steps_however_long_their_episodes_are() -> None:
    total = play(LevelCurriculum(LEVELS, 0.2), 3000, {"1-1": 20, "1-2": 200, "1-3": 50})
    assert max(total.values()) <= 1.05 * min(total.values())


def test_a_level_that_is_always_cleared_gets_only_its_floor() -> None:
    curriculum = LevelCurriculum(LEVELS, 0.3)
    for _ in range(1000):
        curriculum.ended("1-1", True, 3000)
        curriculum.ended("1-2", False, 100)
    assert curriculum.shares()["1-1"] == pytest.approx(0.1, abs=0.01)
    total = play(curriculum, 5000, dict.fromkeys(LEVELS, 100))
    assert total["1-1"] / total.total() == pytest.approx(0.1, abs=0.02)


def test_a_level_that_is_being_learned_gets_more_than_one_that_is_not() -> None:
    curriculum = LevelCurriculum(LEVELS, 0.3)
    for _ in range(200):
        curriculum.ended("1-1", False, 1000)
        curriculum.ended("1-2", False, 1000)
    for episode in range(20):
        curriculum.ended("1-1", False, 1000)
        curriculum.ended("1-2", False, 1000 + 100 * episode)
        curriculum.ended("1-2", False, 1)
    assert curriculum.shares()["1-2"] > curriculum.shares()["1-1"]


def test_shares_sum_to_one_and_keep_the_floor() -> None:
    curriculum = LevelCurriculum(LEVELS, 0.3)
    for _ in range(500):
        curriculum.ended("1-1", True, 3000)
        curriculum.ended("1-3", True, 3000)
    shares = curriculum.shares()
    assert sum(shares.values()) == pytest.approx(1.0)
    assert min(shares.values()) >= 0.1


def test_shares_follow_when_needs_change() -> None:
    curriculum = LevelCurriculum(LEVELS, 0.0)
    play(curriculum, 5000, dict.fromkeys(LEVELS, 100))
    for _ in range(500):
        curriculum.ended("1-1", True, 3000)
        curriculum.ended("1-2", True, 3000)
    play(curriculum, 5000, dict.fromkeys(LEVELS, 100))  # old steps are forgotten meanwhile
    total = play(curriculum, 1000, dict.fromkeys(LEVELS, 100))
    assert total["1-3"] > 0.9 * total.total()


@pytest.mark.parametrize("kind", ["curriculum", "random"])
def test_a_restored_chooser_continues_like_the_saved_one(kind: str) -> None:
    def make() -> LevelCurriculum | RandomLevels:
        return LevelCurriculum(LEVELS, 0.3) if kind == "curriculum" else RandomLevels(LEVELS, 1)

    def chosen(chooser: LevelCurriculum | RandomLevels) -> list[str]:
        levels = []
        for episode in range(50):
            levels.append(chooser.next_level())
            chooser.played(levels[-1], 10 + episode)
            chooser.ended(levels[-1], episode % 3 == 0, 10 * episode)
        return levels

    chooser = make()
    chosen(chooser)
    other = make()
    other.load_state_dict(chooser.state_dict())
    assert chosen(other) == chosen(chooser)


def test_random_levels_come_about_equally_often() -> None:
    chooser = RandomLevels(LEVELS, 0)
    counts = Counter(chooser.next_level() for _ in range(3000))
    assert all(800 < counts[level] < 1200 for level in LEVELS)
