"""The Optuna study of a sweep: its trials, their parameters and their results."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from warpzone.errors import SweepError
from warpzone.sweep.files import SweepFolder, SweepPlan
from warpzone.sweep.results import RunResult, is_maximized
from warpzone.sweep.space import Choices, Dimension, Parameter
from warpzone.sweep.storage import open_storage, require_optuna

if TYPE_CHECKING:
    from optuna import Study, Trial
    from optuna.pruners import BasePruner
    from optuna.samplers import BaseSampler
    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial, TrialState

STUDY_NAME = "warpzone"
RUNGS = 10
"""Points of a run, evenly spaced over its budget, at which its clear rate is reported."""
ERROR, PRUNED, MINUTES = "error", "pruned", "minutes"
"""Attributes of a trial: why it failed or was pruned, and its minutes of training."""
_MEDIAN_TRIALS, _MEDIAN_RUNGS = 5, 2


class SweepStudy:
    """The trials of a sweep, in a journal that several processes share."""

    def __init__(self, study: Study, storage: BaseStorage, plan: SweepPlan) -> None:
        """Wraps a study; use `open_study`."""
        self.study, self.plan = study, plan
        self._storage = storage
        self._study_id = storage.get_study_id_from_name(STUDY_NAME)

    def trials(self) -> list[FrozenTrial]:
        """Returns all trials, by number."""
        return self.study.get_trials(deepcopy=False)

    def trial(self, number: int) -> FrozenTrial:
        """Returns a trial.

        Raises:
            SweepError: It does not exist.
        """
        try:
            return self._storage.get_trial(self._id(number))
        except KeyError as error:
            raise SweepError(f"there is no trial {number}") from error

    def ask(self, seed: int) -> int:
        """Adds a trial, chooses its parameters, and returns its number.

        The first trial is the preset itself, so that the search starts from it, prunes what is
        worse, and shows what it gained. The sampler's seed depends on the number of the trial, so a
        resumed sweep proposes the same parameters as one that was never interrupted.
        """
        self.study.sampler = self._sampler(seed, len(self.trials()))
        trial = self.study.ask()
        self._suggest(trial)
        return trial.number

    def complete(self, number: int, seed: int) -> None:
        """Chooses the parameters that are missing since the sweep was killed between two."""
        from optuna import Trial

        missing = {item.name for item in self.plan.space} - self.trial(number).params.keys()
        if missing:
            self.study.sampler = self._sampler(seed, number)
            self._suggest(Trial(self.study, self._id(number)))

    def report(self, number: int, step: int, value: float) -> None:
        """Records an intermediate value; one that is already recorded stays."""
        if step not in self.trial(number).intermediate_values:
            self._storage.set_trial_intermediate_value(self._id(number), step, value)

    def should_prune(self, number: int) -> bool:
        """Whether the pruner stops a trial here."""
        return self.study.pruner.prune(self.study, self.trial(number))

    def set_attribute(self, number: int, name: str, value: Any) -> None:
        """Records an attribute of a trial."""
        self._storage.set_trial_user_attr(self._id(number), name, value)

    def finish(self, number: int, values: Sequence[float]) -> None:
        """Ends a trial with its values."""
        self.study.tell(number, list(values), skip_if_finished=True)

    def prune(self, number: int, reason: str) -> None:
        """Ends a trial that was stopped early."""
        from optuna.trial import TrialState

        self._end(number, PRUNED, reason, TrialState.PRUNED)

    def fail(self, number: int, reason: str) -> None:
        """Ends a trial that has no result."""
        from optuna.trial import TrialState

        self._end(number, ERROR, reason, TrialState.FAIL)

    def _end(self, number: int, attribute: str, reason: str, state: TrialState) -> None:
        if not self.trial(number).state.is_finished():
            self.set_attribute(number, attribute, reason)
        self.study.tell(number, state=state, skip_if_finished=True)

    def _id(self, number: int) -> int:
        return self._storage.get_trial_id_from_study_id_trial_number(self._study_id, number)

    def _sampler(self, seed: int, number: int) -> BaseSampler:
        state = np.random.SeedSequence([seed, number]).generate_state(1)
        sampler = make_sampler(self.plan.options.sampler, int(state[0]))
        return sampler if number else _fixed(sampler, self.plan.preset_parameters())

    def _suggest(self, trial: Trial) -> None:
        for dimension in self.plan.space:
            _suggest(trial, dimension)


def open_study(folder: SweepFolder, plan: SweepPlan, *, create: bool = False) -> SweepStudy:
    """Opens the study of a sweep.

    Args:
        folder: Folder of the sweep.
        plan: What the sweep was asked for.
        create: Create the study if it does not exist yet.

    Raises:
        SweepError: There is no study, or the journal is damaged.
    """
    require_optuna()
    import optuna
    from optuna.study import StudyDirection

    if not create and not folder.journal.is_file():
        raise SweepError(f"{folder.path} has no trials yet: it has no {folder.journal.name}")
    storage = open_storage(folder)
    directions = [
        StudyDirection.MAXIMIZE if is_maximized(name) else StudyDirection.MINIMIZE
        for name in plan.options.objectives
    ]
    try:
        if create and not storage.get_all_studies():
            optuna.create_study(study_name=STUDY_NAME, storage=storage, directions=directions)
        study = optuna.load_study(
            study_name=STUDY_NAME,
            storage=storage,
            sampler=optuna.samplers.RandomSampler(),  # Replaced for every trial.
            pruner=make_pruner(plan),
        )
    except KeyError as error:
        raise SweepError(f"{folder.journal} does not contain the study of a sweep") from error
    if study.directions != directions:
        raise SweepError(f"{folder.journal} belongs to a sweep with another objective")
    return SweepStudy(study, storage, plan)


def make_sampler(name: str, seed: int) -> BaseSampler:
    """Makes a sampler by its name."""
    from optuna import samplers

    if name == "random":
        return samplers.RandomSampler(seed=seed)
    if name == "tpe":
        return samplers.TPESampler(seed=seed)
    return samplers.GPSampler(seed=seed)


def _fixed(sampler: BaseSampler, parameters: dict[str, Parameter]) -> BaseSampler:
    """Makes a sampler that fixes some parameters."""
    from optuna.exceptions import ExperimentalWarning
    from optuna.samplers import PartialFixedSampler

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        return PartialFixedSampler(parameters, sampler)


def make_pruner(plan: SweepPlan) -> BasePruner:
    """Makes the pruner of a sweep."""
    from optuna import pruners

    name = plan.options.used_pruner
    if name == "median":
        return pruners.MedianPruner(_MEDIAN_TRIALS, _MEDIAN_RUNGS)
    if name == "hyperband":
        return pruners.HyperbandPruner(max_resource=RUNGS * plan.options.seeds)
    return pruners.NopPruner()


def run_attribute(index: int) -> str:
    """Attribute that holds the result of a trial's run."""
    return f"run/{index}"


def run_results(trial: FrozenTrial) -> list[RunResult]:
    """Returns the results of a trial's runs that have ended, in order.

    Raises:
        SweepError: The journal has something else there.
    """
    results: list[RunResult] = []
    while (row := trial.user_attrs.get(run_attribute(len(results)))) is not None:
        try:
            results.append(RunResult.from_row(row))
        except ValueError as error:
            raise SweepError(f"the journal's trial {trial.number} is damaged: {error}") from error
    return results


def _suggest(trial: Trial, dimension: Dimension) -> None:
    if isinstance(dimension, Choices):
        trial.suggest_categorical(dimension.name, dimension.texts)
    elif dimension.is_integer:
        low, high = int(dimension.low), int(dimension.high)
        trial.suggest_int(dimension.name, low, high, log=dimension.log)
    else:
        trial.suggest_float(dimension.name, dimension.low, dimension.high, log=dimension.log)
