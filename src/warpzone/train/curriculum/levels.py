"""Which level is played next: lanes go to the levels that need them."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

# Episodes that the two averages of a level's results look back; their difference is what was
# learned lately.
_RECENT, _FORMER = 20, 80
# What was learned lately counts so much more than what is still missing.
_LEARNING_WEIGHT = 2.0
# Steps after which half of what was played is forgotten, so that shares follow the needs.
_HALF_LIFE = 100_000


class LevelChooser(Protocol):
    """Chooses the level of a lane's next episode."""

    def next_level(self) -> str:
        """A level."""

    def ended(self, level: str, cleared: bool, progress: int) -> None:
        """Takes the result of an episode from the level's own start."""

    def played(self, level: str, steps: int) -> None:
        """Counts the steps of an episode, wherever it began."""

    def shares(self) -> dict[str, float]:
        """The share of the steps that each level should get; empty where that is left to chance."""

    def state_dict(self) -> dict[str, Any]:
        """Everything that an exact resume needs, as plain data."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from a saved state."""


class RandomLevels:
    """Any level, whatever came of it."""

    def __init__(self, levels: Sequence[str], seed: int):
        """Draws from the levels."""
        self._levels = list(levels)
        self._random = np.random.default_rng(seed)

    def next_level(self) -> str:
        """A level, drawn at random."""
        return self._levels[int(self._random.integers(len(self._levels)))]

    def ended(self, level: str, cleared: bool, progress: int) -> None:
        """Nothing is learned from it."""

    def played(self, level: str, steps: int) -> None:
        """Nothing is counted."""

    def shares(self) -> dict[str, float]:
        """None are aimed at."""
        return {}

    def state_dict(self) -> dict[str, Any]:
        """The random stream."""
        return {"random": repr(self._random.bit_generator.state)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from a saved state."""
        self._random.bit_generator.state = ast.literal_eval(state["random"])


@dataclass
class LevelRecord:
    """How a level has gone so far.

    Attributes:
        clears: Share of the last episodes from the level's start that cleared it.
        recent: How far episodes came lately, from 0 to 1.
        former: The same over a longer time.
        furthest: Most progress of any episode, in pixels.
        played: Steps, older ones counting less.
    """

    clears: float = 0.0
    recent: float = 0.0
    former: float = 0.0
    furthest: int = 1
    played: float = 0.0


class LevelCurriculum:
    """Gives each level a share of the steps, by what is missing and what is being learned there.

    Shares are of steps, not of episodes: a level in which Mario dies at once would otherwise get
    almost nothing. Nothing is drawn at random: the level that lags furthest behind its share is
    next.
    """

    def __init__(self, levels: Sequence[str], floor: float = 0.3):
        """Begins with equal shares.

        Args:
            levels: The names.
            floor: Least share of a level, as a part of an equal one.
        """
        self.floor = floor
        self.records = {level: LevelRecord() for level in levels}

    def ended(self, level: str, cleared: bool, progress: int) -> None:
        """Takes the result of an episode from the level's own start."""
        record = self.records[level]
        record.furthest = max(record.furthest, progress)
        result = 1.0 if cleared else min(1.0, progress / record.furthest)
        record.clears += (cleared - record.clears) / _RECENT
        record.recent += (result - record.recent) / _RECENT
        record.former += (result - record.former) / _FORMER

    def played(self, level: str, steps: int) -> None:
        """Counts the steps of an episode, wherever it began."""
        keep = 0.5 ** (steps / _HALF_LIFE)
        for record in self.records.values():
            record.played *= keep
        self.records[level].played += steps

    def shares(self) -> dict[str, float]:
        """The share of the steps that each level should get."""
        needs = {
            level: (1.0 - record.clears)
            + _LEARNING_WEIGHT * abs(record.recent - record.former)
            + 1e-6
            for level, record in self.records.items()
        }
        total, count = math.fsum(needs.values()), len(needs)
        return {
            level: self.floor / count + (1.0 - self.floor) * need / total
            for level, need in needs.items()
        }

    def next_level(self) -> str:
        """The level that lags furthest behind its share."""
        shares = self.shares()
        return min(self.records, key=lambda level: self.records[level].played / shares[level])

    def state_dict(self) -> dict[str, Any]:
        """Everything that an exact resume needs, as plain data."""
        return {level: vars(record).copy() for level, record in self.records.items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from a saved state."""
        self.records = {level: LevelRecord(**record) for level, record in state.items()}
