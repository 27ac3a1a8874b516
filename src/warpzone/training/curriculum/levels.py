"""Choice of the next level: levels that need practice get more steps."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

# Episodes of the two moving averages of a level's results; their difference is recent progress.
_RECENT, _FORMER = 20, 80
# Weight of recent progress relative to the missing clear rate.
_LEARNING_WEIGHT = 2.0
# Half-life of played steps, so that shares follow changing needs.
_HALF_LIFE = 100_000


class LevelChooser(Protocol):
    """Chooses the level of the next episode."""

    def next_level(self) -> str:
        """Returns the level of the next episode."""

    def ended(self, level: str, cleared: bool, progress: int) -> None:
        """Records the result of an episode from the start of the level."""

    def played(self, level: str, steps: int) -> None:
        """Counts the steps of an episode, wherever it started."""

    def shares(self) -> dict[str, float]:
        """Returns the target fraction of steps per level; empty if levels are random."""

    def set_factors(self, factors: Mapping[str, float]) -> None:
        """Sets the factor by which each level is preferred; without any, all have 1."""

    def state_dict(self) -> dict[str, Any]:
        """Returns the state that an exact resume needs, as plain data."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""


class RandomLevels:
    """Chooses a random level for every episode."""

    def __init__(self, levels: Sequence[str], seed: int):
        """Creates a chooser that samples from the levels."""
        self._levels = list(levels)
        self._random = np.random.default_rng(seed)
        self._factors: Mapping[str, float] = {}

    def next_level(self) -> str:
        """Returns a random level."""
        if self._factors:
            factors = np.array([self._factors[level] for level in self._levels])
            return self._levels[int(self._random.choice(len(factors), p=factors / factors.sum()))]
        return self._levels[int(self._random.integers(len(self._levels)))]

    def set_factors(self, factors: Mapping[str, float]) -> None:
        """Sets the factor by which each level is preferred; without any, all have 1."""
        self._factors = dict(factors)

    def ended(self, level: str, cleared: bool, progress: int) -> None:
        """Does nothing."""

    def played(self, level: str, steps: int) -> None:
        """Does nothing."""

    def shares(self) -> dict[str, float]:
        """Returns an empty dict."""
        return {}

    def state_dict(self) -> dict[str, Any]:
        """Returns the state of the random stream."""
        return {"random": repr(self._random.bit_generator.state)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self._random.bit_generator.state = ast.literal_eval(state["random"])


@dataclass
class LevelRecord:
    """Results on a level so far.

    Attributes:
        clear_rate: Clear rate of recent episodes from the start of the level.
        recent: Mean progress of recent episodes, from 0 to 1.
        former: Mean progress over a longer time.
        furthest: Largest progress of any episode, in pixels.
        played: Number of steps, with exponential decay.
    """

    clear_rate: float = 0.0
    recent: float = 0.0
    former: float = 0.0
    furthest: int = 1
    played: float = 0.0


class LevelCurriculum:
    """Assigns each level a fraction of the steps, by its missing clear rate and recent progress.

    Fractions are of steps, not of episodes: a level in which Mario dies immediately would otherwise
    get almost no steps. Nothing is random: the level furthest below its target comes next.
    """

    def __init__(self, levels: Sequence[str], floor: float = 0.3):
        """Creates a curriculum with equal fractions.

        Args:
            levels: Names of the levels.
            floor: Smallest fraction of a level, relative to an equal fraction.
        """
        self.floor = floor
        self._factors: Mapping[str, float] = {}
        self.records = {level: LevelRecord() for level in levels}

    def ended(self, level: str, cleared: bool, progress: int) -> None:
        """Records the result of an episode from the start of the level."""
        record = self.records[level]
        record.furthest = max(record.furthest, progress)
        result = 1.0 if cleared else min(1.0, progress / record.furthest)
        record.clear_rate += (cleared - record.clear_rate) / _RECENT
        record.recent += (result - record.recent) / _RECENT
        record.former += (result - record.former) / _FORMER

    def played(self, level: str, steps: int) -> None:
        """Counts the steps of an episode, wherever it started."""
        keep = 0.5 ** (steps / _HALF_LIFE)
        for record in self.records.values():
            record.played *= keep
        self.records[level].played += steps

    def shares(self) -> dict[str, float]:
        """Returns the target fraction of steps per level."""
        needs = {
            level: (1.0 - record.clear_rate)
            + _LEARNING_WEIGHT * abs(record.recent - record.former)
            + 1e-6
            for level, record in self.records.items()
        }
        total, count = math.fsum(needs.values()), len(needs)
        shares = {
            level: self.floor / count + (1.0 - self.floor) * need / total
            for level, need in needs.items()
        }
        if not self._factors:
            return shares
        scaled = {level: share * self._factors[level] for level, share in shares.items()}
        whole = math.fsum(scaled.values())
        return {level: share / whole for level, share in scaled.items()}

    def set_factors(self, factors: Mapping[str, float]) -> None:
        """Sets the factor by which each level is preferred; without any, all have 1."""
        self._factors = dict(factors)

    def next_level(self) -> str:
        """Returns the level furthest below its target."""
        shares = {level: share for level, share in self.shares().items() if share > 0.0}
        return min(shares, key=lambda level: self.records[level].played / shares[level])

    def state_dict(self) -> dict[str, Any]:
        """Returns the state that an exact resume needs, as plain data."""
        return {level: vars(record).copy() for level, record in self.records.items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self.records = {level: LevelRecord(**record) for level, record in state.items()}
