"""One trial: trains its runs in turn, confirms clear rates, and records the results.

Everything that is decided on the way is in the journal or in the runs' checkpoints, so a trial that
was killed continues where it was.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from warpzone.campaign.plan import Budget, Task
from warpzone.campaign.task_training import pause_after
from warpzone.config import TrainConfig, with_threads
from warpzone.errors import SweepError
from warpzone.runs.checkpoint import read_meta
from warpzone.runs.checkpoint_store import find_latest
from warpzone.runs.directory import RunDirectory
from warpzone.runs.levels import trained_levels
from warpzone.sweep.files import SweepFolder
from warpzone.sweep.progress import Progress, TrialEnding
from warpzone.sweep.pruning import hopeless
from warpzone.sweep.results import RunResult, is_maximized, trial_values
from warpzone.sweep.study import MINUTES, RUNGS, SweepStudy, run_attribute, run_results
from warpzone.system.json_file import entry
from warpzone.system.signals import StopRequest
from warpzone.telemetry.reading import finite, last_line

# Checks, and the last evaluation, play other episodes than training, and each plays new ones.
_CHECK_SEED, _SEEDS_APART, _FINAL_SEED = 1_000_000, 100_000, 900_000_000

Train = Callable[[Path, TrainConfig, TrialEnding], StopRequest]
"""Trains the run of a folder, from the start or from where it left off."""
Measure = Callable[[Path, Sequence[str], int, int], list[float]]
"""Plays episodes with a checkpoint: levels, episodes per level, seed. Returns clear rates."""


class TrialPrunedError(Exception):
    """A trial is stopped early; the message says why."""


class TrialInterruptedError(Exception):
    """The worker was asked to stop; the trial stays unfinished."""


@dataclass(frozen=True)
class Checks:
    """The checks of a run so far.

    Attributes:
        count: How many there were.
        check_from: Steps before which there is no other check.
        goal_steps: Steps of the check that confirmed the goal; None if none did.
        goal_minutes: Minutes of training at that check.
    """

    count: int = 0
    check_from: int = 0
    goal_steps: int | None = None
    goal_minutes: float | None = None


class TrialRuns:
    """Trains the runs of one trial."""

    def __init__(
        self,
        folder: SweepFolder,
        study: SweepStudy,
        number: int,
        *,
        train: Train,
        measure: Measure,
        threads: int,
    ) -> None:
        """Resolves the trial's configuration; trains nothing yet.

        Args:
            folder: Folder of the sweep.
            study: Its trials.
            number: Number of the trial.
            train: Trains a run.
            measure: Plays fresh episodes.
            threads: Threads to use where the configuration does not say.

        Raises:
            ConfigError: The trial's parameters do not fit together.
        """
        self._folder, self._study, self._number = folder, study, number
        self._train, self._measure = train, measure
        self._options = study.plan.options
        config = study.plan.config(study.trial(number).params)
        self._config = with_threads(config, threads)
        self._levels = trained_levels(config.env)
        self._budget = Budget(config.run.steps, self._options.minutes_per_run)

    def run(self) -> None:
        """Trains every run that has no result yet, and ends the trial.

        Raises:
            TrialInterruptedError: The worker was asked to stop.
        """
        try:
            for index in range(self._options.seeds):
                if run_attribute(index) not in self._study.trial(self._number).user_attrs:
                    result = self._finish(index)
                    self._record(run_attribute(index), result.as_row())
        except TrialPrunedError as pruned:
            self._record(MINUTES, self._minutes())
            self._study.prune(self._number, str(pruned))
            return
        self._record(MINUTES, self._minutes())
        results = run_results(self._study.trial(self._number))
        self._study.finish(self._number, trial_values(results, self._options))

    def _finish(self, index: int) -> RunResult:
        """Trains a run until the goal is confirmed or its budget is used up."""
        run = self._folder.run(self._number, index)
        config = run_config(self._config, run, self._config.run.seed + index)
        while True:
            checks = self._checks(index)
            progress = self._progress(index)
            ending = TrialEnding(
                self._levels,
                self._goal(checks),
                self._budget,
                check_from=checks.check_from,
                progress=progress,
            )
            if self._train(run, config, ending):
                raise TrialInterruptedError
            if ending.pruned:
                raise TrialPrunedError(ending.pruned)
            latest = find_latest(run)
            if latest is None:
                raise SweepError(f"{run} has no checkpoint after training")
            if not ending.promised:
                return self._result(run, latest, checks)
            checks = self._check(run, latest, checks)
            self._record(f"checks/{index}", asdict(checks))
            if checks.goal_steps is not None and "clear-rate" not in self._options.objectives:
                return self._result(run, latest, checks)

    def _goal(self, checks: Checks) -> float:
        """The clear rate to look for; infinite if there is nothing to confirm any more."""
        wanted = self._options.objectives != ("clear-rate",) and checks.goal_steps is None
        return self._options.goal if wanted else math.inf

    def _check(self, run: Path, latest: Path, checks: Checks) -> Checks:
        steps = read_meta(latest).steps
        seed = _CHECK_SEED + _SEEDS_APART * checks.count
        missing = self._options.goal - min(self._rates(latest, seed))
        if missing <= 0:
            return Checks(checks.count + 1, steps, steps, training_minutes(run))
        pause = pause_after(missing, Task("trial", tuple(self._levels)), self._budget.steps)
        return Checks(checks.count + 1, steps + pause)

    def _result(self, run: Path, latest: Path, checks: Checks) -> RunResult:
        rates = self._rates(latest, _FINAL_SEED)
        steps, minutes = read_meta(latest).steps, training_minutes(run)
        if checks.goal_steps is None and min(rates) >= self._options.goal:
            checks = replace(checks, goal_steps=steps, goal_minutes=minutes)
        rate = sum(rates) / len(rates)
        return RunResult(steps, minutes, rate, checks.goal_steps, checks.goal_minutes)

    def _rates(self, checkpoint: Path, seed: int) -> list[float]:
        return self._measure(checkpoint, self._levels, self._options.episodes, seed)

    def _progress(self, index: int) -> Progress:
        """Follows a run: reports its clear rate, and asks whether the trial is worth finishing."""
        reported = self._study.trial(self._number).intermediate_values
        rungs = [step - index * RUNGS for step in reported]
        last = max((rung for rung in rungs if rung < RUNGS), default=0)
        return Progress(self._budget, max(last, 0), lambda now: self._judge(index, now))

    def _judge(self, index: int, now: Progress) -> str:
        """Returns why the trial is pruned here, or an empty text."""
        if len(self._options.objectives) > 1:
            return ""
        if now.new_rungs:
            maximized = is_maximized(self._options.objectives[0])
            value = now.clear_rate if maximized else 1.0 - now.clear_rate
            for rung in now.new_rungs:
                self._study.report(self._number, index * RUNGS + rung, value)
            if self._study.should_prune(self._number):
                share = now.rung / RUNGS
                return f"clear rate {now.clear_rate:.0%} at {share:.0%} of run {index}"
        if not self._options.cost_pruning:
            return ""
        trials = self._study.trials()
        return hopeless(
            self._options,
            trials,
            run_results(trials[self._number]),
            steps=now.steps,
            minutes=now.minutes,
            rung=now.rung,
            clear_rate=now.clear_rate,
        )

    def _checks(self, index: int) -> Checks:
        row = self._study.trial(self._number).user_attrs.get(f"checks/{index}")
        if row is None:
            return Checks()
        reached = row.get("goal_steps") is not None
        return Checks(
            entry(row, "count", int, least=0),
            entry(row, "check_from", int, least=0),
            entry(row, "goal_steps", int, least=0) if reached else None,
            entry(row, "goal_minutes", float, least=0) if reached else None,
        )

    def _minutes(self) -> float:
        """Minutes of training of all runs of the trial."""
        runs = (self._folder.run(self._number, index) for index in range(self._options.seeds))
        return sum(training_minutes(run) for run in runs if run.is_dir())

    def _record(self, name: str, value: Any) -> None:
        self._study.set_attribute(self._number, name, value)


def training_minutes(run: Path) -> float:
    """Minutes of training of a run, without time that was lost when it was killed."""
    row = last_line(RunDirectory(run).metrics) or {}
    return (finite(row, "run/elapsed") or 0.0) / 60


def run_config(config: TrainConfig, run: Path, seed: int) -> TrainConfig:
    """Returns the configuration of one run of a trial."""
    return replace(
        config,
        run=replace(
            config.run,
            runs=str(run.parent),
            name=run.name,
            seed=seed,
            stop_at_clear_rate=0.0,  # The trial decides, by fresh episodes.
            video_minutes=0.0,
        ),
    )
