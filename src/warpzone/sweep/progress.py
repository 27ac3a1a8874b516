"""Follows a run between updates: where it is in its budget, and when its session ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from warpzone.campaign import ending
from warpzone.campaign.plan import Budget
from warpzone.sweep.options import ENOUGH_EPISODES
from warpzone.sweep.study import RUNGS

# Points of a run, evenly spaced over its budget, at which the trial is judged.
_JUDGEMENTS = 5 * RUNGS


def recent_clear_rate(statistics: ending.Statistics) -> float:
    """Returns the clear rate of recent training episodes.

    While there are fewer than 20, those that are missing count as not cleared: one lucky episode at
    the start of a run is not a clear rate of 100 %.
    """
    rates = statistics.level_clear_rates.values()
    clears = sum(rate * episodes for rate, episodes in rates)
    return clears / max(sum(episodes for _, episodes in rates), ENOUGH_EPISODES)


class Progress:
    """Where a run is in its budget.

    Attributes:
        steps: Environment steps done.
        minutes: Minutes of training.
        clear_rate: Clear rate of recent episodes.
        rung: Last tenth of the budget that was passed.
        new_rungs: Tenths that were passed since the last judgement.
    """

    def __init__(self, budget: Budget, rung: int, judge: Callable[[Progress], str]) -> None:
        """Starts to follow a run.

        Args:
            budget: Budget of the run.
            rung: Last tenth that an earlier session has reported.
            judge: Called at evenly spaced points; returns why the trial ends here, or ''.
        """
        self.steps, self.minutes, self.clear_rate = 0, 0.0, 0.0
        self.rung, self.new_rungs = rung, range(0)
        self._budget, self._judge = budget, judge
        self._judged = rung * _JUDGEMENTS // RUNGS

    def advance(self, trainer: ending.TrainingState) -> str:
        """Returns why the trial ends here, or an empty text."""
        self.steps, self.minutes = trainer.steps, trainer.elapsed / 60
        self.clear_rate = recent_clear_rate(trainer.statistics)
        point = int(_JUDGEMENTS * self._share())
        if point <= self._judged:
            return ""
        self._judged = point
        rung = min(point * RUNGS // _JUDGEMENTS, RUNGS - 1)
        self.new_rungs = range(self.rung + 1, rung + 1)
        self.rung = max(self.rung, rung)
        return self._judge(self)

    def _share(self) -> float:
        """The share of the budget that is used up."""
        share = self.steps / self._budget.steps
        if self._budget.minutes:
            share = max(share, self.minutes / self._budget.minutes)
        return min(share, 1.0)


class TrialEnding:
    """The loop's `until`: ends a session at its budget, for a check, or when it is pruned.

    Attributes:
        pruned: Why the trial is pruned; empty if it is not.
    """

    def __init__(
        self,
        levels: Sequence[str],
        goal: float,
        budget: Budget,
        *,
        check_from: int,
        progress: Progress,
    ) -> None:
        """Creates an ending; see `campaign.ending.Ending`."""
        self._ending = ending.Ending(levels, goal, budget, check_from)
        self._progress = progress
        self.pruned = ""

    @property
    def promised(self) -> bool:
        """Whether it ended the session because the goal seems to be reached."""
        return self._ending.promised

    def __call__(self, trainer: ending.TrainingState) -> bool:
        """Whether the session ends here."""
        self.pruned = self._progress.advance(trainer)
        return bool(self.pruned) or self._ending(trainer)
