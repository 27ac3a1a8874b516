"""Which level is played next: levels that need practice get more of the steps."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

# Episodes of the two moving averages of a level's results; their difference is recent learning.
_RECENT, _FORMER = 20, 80
# Weight of recent learning relative to what is still missing.
_LEARNING_WEIGHT = 2.0
# Steps after which played steps count half, so that shares follow the needs.
_HALF_LIFE = 100_000


class LevelChooser(Protocol):
    """Chooses the level of the next episode."""

    def next_level(self) -> str:
        """The level."""

    def ended(self, level: str, cleared: bool, progress: int) -> None:
        """Takes the result of an episode from the level's start."""

    def played(self, level: str, steps: int) -> None:
        """Counts the steps of an episode, wherever it began."""

    def shares(self) -> dict[str, float]:
        """The share of the steps that each level should get; empty if levels are random."""

    def state_dict(self) -> dict[str, Any]:
        """Everything that an exact resume needs, as plain data."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores what `state_dict` returned."""


class RandomLevels:
    """A random level for every episode."""

    def __init__(self, levels: Sequence[str], seed: int):
        """Samples from the levels."""
        self._levels = list(levels)
        self._random = np.random.default_rng(seed)

    def next_level(self) -> str:
        """A random level."""
        return self._levels[int(self._random.integers(len(self._levels)))]

    def ended(self, level: str, cleared: bool, progress: int) -> None:
        """Does nothing."""

    def played(self, level: str, steps: int) -> None:
        """Does nothing."""

    def shares(self) -> dict[str, float]:
        """Empty."""
        return {}

    def state_dict(self) -> dict[str, Any]:
        """The random stream."""
        return {"random": repr(self._random.bit_generator.state)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores what `state_dict` returned."""
        self._random.bit_generator.state = ast.literal_eval(state["random"])


@dataclass
class LevelRecord:
    """The results on a level so far.

    Attributes:
        clear_rate: Of recent episodes from the level's start.
        recent: How far recent episodes came, from 0 to 1.
        former: The same over a longer time.
        furthest: Most progress of any episode, in pixels.
        played: Steps, older ones counting less.
    """

    clear_rate: float = 0.0
    recent: float = 0.0
    former: float = 0.0
    furthest: int = 1
    played: float = 0.0


class LevelCurriculum:
    """Gives each level a share of the steps, by what is missing and what is being learned there.

    Shares are of steps, not of episodes: a level in which Mario dies at once would otherwise get
    almost nothing. Nothing is random: the level that lags furthest behind its share is next.
    """

    def __init__(self, levels: Sequence[str], floor: float = 0.3):
        """Begins with equal shares.

        Args:
            levels: Names of the levels.
            floor: Smallest share of a level, relative to an equal share.
        """
        self.floor = floor
        self.records = {level: LevelRecord() for level in levels}

    def ended(self, level: str, cleared: bool, progress: int) -> None:
        """Takes the result of an episode from the level's start."""
        record = self.records[level]
        record.furthest = max(record.furthest, progress)
        result = 1.0 if cleared else min(1.0, progress / record.furthest)
        record.clear_rate += (cleared - record.clear_rate) / _RECENT
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
            level: (1.0 - record.clear_rate)
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
        """Restores what `state_dict` returned."""
        self.records = {level: LevelRecord(**record) for level, record in state.items()}
