"""Pruning by cost: a trial that can no longer become the best is stopped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warpzone.sweep.options import SweepOptions
from warpzone.sweep.results import RunResult, is_maximized, value_of
from warpzone.sweep.study import RUNGS, run_results

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

# Gains of fewer trials say too little about what is possible.
_TRIALS_FOR_GAINS = 5


def hopeless(
    options: SweepOptions,
    trials: Sequence[FrozenTrial],
    done: Sequence[RunResult],
    *,
    steps: int,
    minutes: float,
    rung: int,
    clear_rate: float,
) -> str:
    """Returns why a trial can no longer become the best, or an empty text if it still can.

    The time that a trial has used so far is a lower bound of its result. For the clear rate, the
    current run may still gain as much as any finished trial gained from this point on, and runs
    that have not started may clear every episode.

    Args:
        options: Options of the sweep, with one objective.
        trials: Trials to compare with; only finished ones count.
        done: Results of the trial's earlier runs.
        steps: Environment steps of its current run.
        minutes: Minutes of training of its current run.
        rung: Point of the current run at which its clear rate was last reported.
        clear_rate: Clear rate of its last episodes.
    """
    (objective,) = options.objectives
    finished = [trial for trial in trials if trial.state.name == "COMPLETE"]
    if not finished:
        return ""
    values = [trial.values[0] for trial in finished]
    total = sum(value_of(result, objective, options.goal) for result in done)
    if is_maximized(objective):
        later = options.seeds - len(done) - 1
        reachable = min(1.0, clear_rate + _largest_gain(finished, len(done), rung))
        bound = (total + reachable + later) / options.seeds
        if bound < max(values):
            return f"at most {bound:.0%} is within reach, and the best trial has {max(values):.0%}"
        return ""
    bound = (total + (steps if objective == "steps" else minutes)) / options.seeds
    if bound > min(values):
        return f"it has taken more {objective} than the best trial took to reach the goal"
    return ""


def _largest_gain(finished: Sequence[FrozenTrial], index: int, rung: int) -> float:
    """Largest gain of any finished trial between a point of a run and its end."""
    gains = []
    for trial in finished:
        curve, results = trial.intermediate_values, run_results(trial)
        step = index * RUNGS + rung
        if step in curve and index < len(results):
            gains.append(results[index].clear_rate - curve[step])
    return max(gains) if len(gains) >= _TRIALS_FOR_GAINS else 1.0
