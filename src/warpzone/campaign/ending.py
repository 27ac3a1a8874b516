"""When a session of a campaign ends: at its budget, or when the goal seems to be reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from warpzone.campaign.plan import Budget

_ENOUGH_EPISODES = 100  # Per level; a clear rate over fewer says little.
# A checked policy clears more often than the one in training: its weights are averaged, and it
# samples at a lower temperature.
_LAG = 0.3


class Statistics(Protocol):
    """Statistics of a run's episodes."""

    @property
    def level_clear_rates(self) -> Mapping[str, tuple[float, int]]:
        """Clear rate and number of episodes of each level."""


class TrainingState(Protocol):
    """What an ending needs to know about a trainer."""

    @property
    def steps(self) -> int:
        """Environment steps done."""

    @property
    def elapsed(self) -> float:
        """Seconds of training."""

    @property
    def statistics(self) -> Statistics:
        """Statistics of the last episodes."""


class Ending:
    """The loop's `until`, which is called between two updates of a run.

    Attributes:
        promised: Whether it ended the run because the goal seems to be reached.
    """

    def __init__(self, levels: Sequence[str], goal: float, budget: Budget, check_from: int) -> None:
        """Creates an ending.

        Args:
            levels: Levels that must reach the goal.
            goal: Clear rate to reach on each of them.
            budget: Budget of the whole run.
            check_from: Number of steps before which clear rates are ignored.
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
