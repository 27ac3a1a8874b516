"""What a run of a trial achieved, and what a trial is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from warpzone.sweep.options import SweepOptions
from warpzone.system.json_file import entry


@dataclass(frozen=True)
class RunResult:
    """The outcome of one run.

    Attributes:
        steps: Environment steps that it trained for.
        minutes: Minutes of training.
        clear_rate: Clear rate in fresh episodes at its end.
        goal_steps: Steps after which fresh episodes confirmed the goal; None if they never did.
        goal_minutes: Minutes after which they did.
    """

    steps: int
    minutes: float
    clear_rate: float
    goal_steps: int | None = None
    goal_minutes: float | None = None

    def as_row(self) -> dict[str, Any]:
        """Plain data for Optuna's journal."""
        return asdict(self)

    @classmethod
    def from_row(cls, row: Any) -> RunResult:
        """Reads what `as_row` wrote.

        Raises:
            ValueError: It is something else.
        """
        reached = isinstance(row, dict) and row.get("goal_steps") is not None
        return cls(
            entry(row, "steps", int, least=0),
            entry(row, "minutes", float, least=0),
            entry(row, "clear_rate", float, least=0),
            entry(row, "goal_steps", int, least=0) if reached else None,
            entry(row, "goal_minutes", float, least=0) if reached else None,
        )


def is_maximized(objective: str) -> bool:
    """Whether larger values of an objective are better."""
    return objective == "clear-rate"


def value_of(result: RunResult, objective: str, goal: float) -> float:
    """Returns the value of a run under one objective.

    A run that never reached the goal counts as longer than its budget, by up to a factor of 2 that
    depends on how close it came. So the search can tell bad from worse.
    """
    if objective == "clear-rate":
        return result.clear_rate
    reached = result.goal_steps if objective == "steps" else result.goal_minutes
    if reached is not None:
        return float(reached)
    used = result.steps if objective == "steps" else result.minutes
    return used * (2.0 - min(1.0, result.clear_rate / goal))


def trial_values(results: Sequence[RunResult], options: SweepOptions) -> list[float]:
    """Returns the values of a trial: per objective, the mean over its runs."""
    return [
        sum(value_of(result, objective, options.goal) for result in results) / len(results)
        for objective in options.objectives
    ]
