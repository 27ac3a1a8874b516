"""The options of a sweep; nothing heavy is imported here, for the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from warpzone.config.option import option

Objective = Literal["steps", "minutes", "clear-rate", "steps+clear-rate", "minutes+clear-rate"]
Sampler = Literal["tpe", "gp", "random"]
Pruner = Literal["auto", "median", "hyperband", "none"]

ENOUGH_EPISODES = 20
"""Episodes below which a clear rate says too little: a random policy clears 1-1 once by luck."""


@dataclass(frozen=True)
class SweepOptions:
    """What is searched, how trials are judged, and how many are run."""

    objective: Objective = option(
        "steps",
        "What makes a trial good: few environment steps or few minutes of training until fresh "
        "episodes confirm --goal, or a high clear rate after --steps. Two objectives joined by + "
        "give a Pareto front.",
        everyday=True,
    )
    goal: float = option(
        0.9,
        "Clear rate in fresh episodes at which 'steps' and 'minutes' stop counting.",
        above=0.0,
        at_most=1.0,
        metavar="RATE",
        everyday=True,
    )
    trials: int = option(
        40,
        "Number of trials, including pruned and failed ones. Resume with a larger number to "
        "continue a finished sweep.",
        at_least=1,
        at_most=100_000,
        metavar="N",
        everyday=True,
    )
    jobs: int = option(
        1,
        "Number of trials to run at the same time, each in its own process. Cores are divided "
        "between them.",
        at_least=1,
        at_most=1024,
        metavar="N",
        everyday=True,
    )
    seeds: int = option(
        1,
        "Runs per trial, with the seeds --seed, --seed + 1 and so on; a trial's result is their "
        "mean.",
        at_least=1,
        at_most=1000,
        metavar="N",
        everyday=True,
    )
    space: tuple[str, ...] = option(
        (),
        "Option to search and its values: NAME=LOW:HIGH, NAME=LOW:HIGH:log or NAME=A,B,C, where "
        "NAME is a training option such as learning-rate. Repeat the flag for several. Without "
        "it, the preset's default space is searched.",
        metavar="SPACE",
        repeated=True,
        everyday=True,
    )
    sampler: Sampler = option(
        "tpe",
        "How values are chosen: tpe (tree-structured Parzen estimator), gp (Gaussian process, for "
        "few and expensive trials) or random.",
        everyday=True,
    )
    pruner: Pruner = option(
        "auto",
        "Stops trials whose clear rate is below the median of earlier trials at the same point, or "
        "by hyperband. 'auto' uses median for one objective and none for two, which Optuna does "
        "not prune.",
        everyday=True,
    )
    cost_pruning: bool = option(
        True,
        "Also stop a trial as soon as it can no longer become the best.",
        off="Do not stop trials that can no longer become the best.",
    )
    minutes_per_run: float = option(
        0.0,
        "Training time per run, in minutes; 0 means that only --steps limits a run.",
        at_least=0.0,
        at_most=1e6,
        metavar="MINUTES",
    )
    episodes: int = option(
        100,
        "Fresh episodes per level that confirm a clear rate. Fewer are faster but say less: the "
        "95 % interval is about ±8 points with 100 episodes and ±18 with 20.",
        at_least=ENOUGH_EPISODES,
        at_most=100_000,
        metavar="N",
    )

    @property
    def objectives(self) -> tuple[str, ...]:
        """The objectives, one or two."""
        return tuple(self.objective.split("+"))

    @property
    def used_pruner(self) -> str:
        """The pruner that 'auto' stands for."""
        if self.pruner != "auto":
            return self.pruner
        return "median" if len(self.objectives) == 1 else "none"
