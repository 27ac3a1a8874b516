"""When training a level ends: at its budget, or when it promises to have reached the goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from warpzone.campaign.plan import Budget

_ENOUGH_EPISODES = 100  # Of a level; before that, a clear rate says little.
# What is checked clears more often than what trains: its weights are averaged, and it draws its
# actions more sharply.
_LAG = 0.3


class Statistics(Protocol):
    """What is known of a run's episodes."""

    @property
    def level_clear_rates(self) -> Mapping[str, tuple[float, int]]:
        """Clear rate and number of episodes of each level."""


class TrainingState(Protocol):
    """What an ending needs to know of a trainer."""

    @property
    def steps(self) -> int:
        """Environment steps done."""

    @property
    def elapsed(self) -> float:
        """Seconds of training."""

    @property
    def statistics(self) -> Statistics:
        """Of the last episodes."""


class Ending:
    """Asked between two updates of a run, as the loop's `until`.

    Attributes:
        promised: Whether it ended the run because the goal seems to be reached.
    """

    def __init__(self, levels: Sequence[str], goal: float, budget: Budget, check_from: int) -> None:
        """Looks at nothing yet.

        Args:
            levels: Those that must be at the goal.
            goal: Clear rate of each.
            budget: Of the whole run.
            check_from: Before so many steps no promise counts.
        """
        self._levels, self._goal, self._budget = levels, goal, budget
        self._check_from = check_from
        self.promised = False

    def __call__(self, trainer: TrainingState) -> bool:
        """Whether the run ends here."""
        if self._budget.minutes and trainer.elapsed >= 60 * self._budget.minutes:
            return True
        if trainer.steps < self._check_from:
            return False
        rates = trainer.statistics.level_clear_rates
        self.promised = all(
            rate >= self._goal - _LAG and episodes >= _ENOUGH_EPISODES
            for rate, episodes in (rates.get(level, (0.0, 0)) for level in self._levels)
        )
        return self.promised
