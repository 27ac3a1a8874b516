"""What a sweep has found: its best trials, which parameters matter, and how it got there."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpzone.config import tree_to_toml
from warpzone.errors import SweepError
from warpzone.sweep.files import SweepFolder, SweepPlan, read_plan
from warpzone.sweep.results import is_maximized
from warpzone.sweep.study import MINUTES, SweepStudy, open_study

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

# Importances of fewer trials are noise.
_TRIALS_FOR_IMPORTANCE = 8


@dataclass(frozen=True)
class Overview:
    """A sweep at one moment.

    Attributes:
        folder: Folder of the sweep.
        plan: What it was asked for.
        trials: All trials, by number.
        best: The best trial; with two objectives, the Pareto front.
        importance: How much each parameter matters for the first objective, largest first; empty
            while there are too few trials.
    """

    folder: SweepFolder
    plan: SweepPlan
    trials: list[FrozenTrial]
    best: list[FrozenTrial]
    importance: dict[str, float]

    @property
    def finished(self) -> list[FrozenTrial]:
        """Trials that have a result."""
        return [trial for trial in self.trials if trial.state.name == "COMPLETE"]

    def ranked(self) -> list[FrozenTrial]:
        """Trials with a result, best first by the first objective, then all others."""
        maximized = is_maximized(self.plan.options.objectives[0])
        finished = sorted(self.finished, key=lambda trial: trial.values[0], reverse=maximized)
        return finished + [trial for trial in self.trials if trial.state.name != "COMPLETE"]

    def count(self, state: str) -> int:
        """Number of trials in one of Optuna's states."""
        return sum(trial.state.name == state for trial in self.trials)

    def best_so_far(self) -> list[tuple[float, float]]:
        """Hours of training, summed over trials, and the best value of the first objective."""
        maximized = is_maximized(self.plan.options.objectives[0])
        ended = [trial for trial in self.trials if trial.state.is_finished()]
        ended.sort(key=lambda trial: (str(trial.datetime_complete), trial.number))
        points: list[tuple[float, float]] = []
        hours, best = 0.0, None
        for trial in ended:
            hours += float(trial.user_attrs.get(MINUTES) or 0.0) / 60
            if trial.state.name == "COMPLETE":
                value = trial.values[0]
                best = value if best is None else (max if maximized else min)(best, value)
            if best is not None:
                points.append((hours, best))
        return points

    def toml(self, trial: FrozenTrial) -> str:
        """Returns the options of a trial as TOML, for `warpzone train --file`."""
        return tree_to_toml(self.plan.tree(trial.params))

    def command(self, trial: FrozenTrial) -> str:
        """Returns the command that trains with the configuration of a trial."""
        return f"warpzone train --from-sweep {self.folder.path} --sweep-trial {trial.number}"


def read_overview(path: Path) -> Overview:
    """Reads a sweep, which may be running.

    Raises:
        SweepError: The folder is not a sweep, or is damaged.
    """
    plan, folder = read_plan(path), SweepFolder(path)
    study = open_study(folder, plan)
    trials = study.trials()
    names = {dimension.name for dimension in plan.space}
    for trial in trials:
        if trial.state.name == "COMPLETE" and names != trial.params.keys():
            raise SweepError(f"{folder.journal} is damaged: trial {trial.number} lacks parameters")
    return Overview(folder, plan, trials, _best(study), _importance(study))


def swept_options(path: Path, number: int | None) -> tuple[str, dict[str, dict[str, Any]]]:
    """Returns the preset and the explicit options of a sweep's best trial, or of another trial.

    Args:
        path: Folder of the sweep.
        number: Number of the trial; None means the best.

    Raises:
        SweepError: There is no such trial, or no best one.
    """
    overview = read_overview(path)
    if number is not None:
        found = [trial for trial in overview.trials if trial.number == number]
        if not found or not {item.name for item in overview.plan.space} <= found[0].params.keys():
            raise SweepError(
                f"{path} has no trial {number}; `warpzone sweep show {path}` lists them"
            )
    else:
        found = overview.best
        if not found:
            raise SweepError(f"{path} has no finished trial yet; resume the sweep first")
        if len(found) > 1:
            numbers = ", ".join(str(trial.number) for trial in found[:20])
            raise SweepError(
                f"{path} has a Pareto front of {len(found)} trials; choose one of {numbers} with "
                "--sweep-trial"
            )
    return overview.plan.preset, overview.plan.tree(found[0].params)


def _best(study: SweepStudy) -> list[FrozenTrial]:
    if not any(trial.state.name == "COMPLETE" for trial in study.trials()):
        return []
    if len(study.plan.options.objectives) == 1:
        return [study.study.best_trial]
    return sorted(study.study.best_trials, key=lambda trial: trial.values[0])


def _importance(study: SweepStudy) -> dict[str, float]:
    from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

    finished = [trial for trial in study.trials() if trial.state.name == "COMPLETE"]
    values = {trial.values[0] for trial in finished}
    if len(finished) < _TRIALS_FOR_IMPORTANCE or len(values) < 2:
        return {}
    # PED-ANOVA asks for low values; Optuna warns of it whenever there are two objectives.
    several = len(study.plan.options.objectives) > 1
    sign = -1.0 if is_maximized(study.plan.options.objectives[0]) else 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return get_param_importances(
            study.study,
            evaluator=PedAnovaImportanceEvaluator(),
            target=(lambda trial: sign * trial.values[0]) if several else None,
        )
