"""A trial confirms its goal with fresh episodes, stops when it is hopeless, and continues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from small_sweep import made_up_sweep, small_plan

from warpzone import cli
from warpzone.campaign.plan import Budget
from warpzone.errors import ConfigError
from warpzone.sweep import trial as trials
from warpzone.sweep.files import SweepFolder, write_plan
from warpzone.sweep.options import SweepOptions
from warpzone.sweep.progress import Progress, recent_clear_rate
from warpzone.sweep.pruning import hopeless
from warpzone.sweep.results import RunResult, trial_values
from warpzone.sweep.study import SweepStudy, open_study, run_results
from warpzone.sweep.trial import TrialInterruptedError, TrialRuns
from warpzone.system.signals import StopRequest


@dataclass
class Level:
    """Statistics of a trainer."""

    rate: float = 0.0

    @property
    def level_clear_rates(self) -> dict[str, tuple[float, int]]:
        return {"1-1": (self.rate, 100)}


@dataclass
class MadeUpTraining:
    """Trains nothing: 100 steps per update, with a clear rate that rises with the steps."""

    total: int = 2000
    gain: float = 1.0
    stop_after: int | None = None
    steps: int = 0
    statistics: Level = field(default_factory=Level)

    @property
    def elapsed(self) -> float:
        return 0.06 * self.steps

    @property
    def success(self) -> float:
        return min(1.0, self.gain * self.steps / self.total)

    def __call__(self, run: Path, config: Any, until: Any) -> StopRequest:
        run.mkdir(parents=True, exist_ok=True)
        while self.steps < config.run.steps:
            self.statistics.rate = self.success
            if until(self):
                break
            self.steps += 100
            if self.steps == self.stop_after:
                stop = StopRequest()
                stop.ask("a test")
                return stop
        return StopRequest()


def test_one_lucky_episode_is_not_a_clear_rate_of_100_percent() -> None:
    @dataclass
    class Recent:
        level_clear_rates: dict[str, tuple[float, int]]

    assert recent_clear_rate(Recent({})) == 0.0
    assert recent_clear_rate(Recent({"1-1": (1.0, 1)})) == 0.05
    assert recent_clear_rate(Recent({"1-1": (0.5, 10), "1-2": (1.0, 30)})) == 35 / 40


def test_a_result_is_never_based_on_a_single_episode(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # An untrained policy clears 1-1 in one of about a thousand episodes, and the episodes of the
    # last evaluation are the same for every trial.
    words = ["sweep", "--level=1-1", "--episodes=1", "-o", str(tmp_path / "sweep")]
    assert cli.main(words) == 2
    assert "--episodes is 1; it must be from 20 to" in capsys.readouterr().err
    assert not (tmp_path / "sweep").exists()


@pytest.fixture
def study(tmp_path: Path) -> SweepStudy:
    return make_study(tmp_path, objective="steps", goal=0.8, pruner="none")


def make_study(path: Path, **options: Any) -> SweepStudy:
    plan = small_plan(**options)
    write_plan(SweepFolder(path), plan)
    return open_study(SweepFolder(path), plan, create=True)


def run(
    study: SweepStudy,
    path: Path,
    training: MadeUpTraining,
    monkeypatch: pytest.MonkeyPatch,
    rates: Sequence[float],
    *,
    number: int | None = None,
) -> int:
    """Runs a trial whose fresh episodes give these clear rates, one after the other."""
    number = study.ask(seed=0) if number is None else number
    left = list(rates)

    @dataclass
    class Meta:
        steps: int

    monkeypatch.setattr(trials, "find_latest", lambda run: run / "latest.pt")
    monkeypatch.setattr(trials, "read_meta", lambda path: Meta(training.steps))
    monkeypatch.setattr(trials, "training_minutes", lambda run: training.elapsed / 60)
    TrialRuns(
        SweepFolder(path),
        study,
        number,
        train=training,
        measure=lambda *_: [left.pop(0)],
        threads=1,
    ).run()
    assert left == [], "every measurement was used"
    return number


def test_a_failed_check_does_not_count_as_reaching_the_goal(
    study: SweepStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = run(study, tmp_path, MadeUpTraining(), monkeypatch, [0.7, 0.85, 0.9])
    (result,) = run_results(study.trial(number))
    assert result.goal_steps is not None
    assert 1000 < result.goal_steps < 2000, "the first check, at 1,000 steps, failed"
    assert study.trial(number).values == [result.goal_steps]


def test_a_trial_that_never_reaches_the_goal_is_worse_the_further_it_stays_away(
    study: SweepStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = run(study, tmp_path, MadeUpTraining(gain=0.1), monkeypatch, [0.1])
    near = run(study, tmp_path, MadeUpTraining(gain=0.2), monkeypatch, [0.4])
    assert study.trial(far).values == [2000 * (2 - 0.1 / 0.8)]
    assert study.trial(near).values == [2000 * 1.5]


def test_both_objectives_train_to_the_budget_and_remember_the_goal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study(tmp_path, objective="steps+clear-rate", goal=0.8)
    number = run(study, tmp_path, MadeUpTraining(), monkeypatch, [0.9, 0.95])
    assert study.trial(number).values == [1000.0, 0.95]


def test_a_trial_stops_once_it_has_taken_longer_than_the_best(
    study: SweepStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = run(study, tmp_path, MadeUpTraining(), monkeypatch, [0.9, 0.9])
    assert study.trial(best).values == [1000.0]
    training = MadeUpTraining(gain=0.1)
    slow = run(study, tmp_path, training, monkeypatch, [])
    assert study.trial(slow).state.name == "PRUNED"
    assert training.steps == 1100
    assert "more steps than the best" in study.trial(slow).user_attrs["pruned"]


def test_the_median_pruner_stops_a_trial_that_falls_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study(tmp_path, pruner="median", cost_pruning=False)
    for _ in range(5):
        run(study, tmp_path, MadeUpTraining(), monkeypatch, [1.0])
    training = MadeUpTraining(gain=0.1)
    number = run(study, tmp_path, training, monkeypatch, [])
    assert study.trial(number).state.name == "PRUNED"
    assert training.steps < 1000


def test_an_interrupted_trial_stays_unfinished_and_continues(
    study: SweepStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = MadeUpTraining(gain=0.1, stop_after=700)
    with pytest.raises(TrialInterruptedError):
        run(study, tmp_path, training, monkeypatch, [])
    assert study.trial(0).state.name == "RUNNING"
    rungs = dict(study.trial(0).intermediate_values)
    training.stop_after = None
    run(study, tmp_path, training, monkeypatch, [0.2], number=0)
    assert study.trial(0).state.name == "COMPLETE"
    assert rungs.items() <= study.trial(0).intermediate_values.items()
    assert sorted(study.trial(0).intermediate_values) == list(range(1, 10))


def test_each_seed_is_a_run_and_the_result_is_their_mean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study(tmp_path, seeds=2, pruner="none")
    number = study.ask(seed=0)
    seeds = []

    class Both(MadeUpTraining):
        def __call__(self, run: Path, config: Any, until: Any) -> StopRequest:
            seeds.append((run.name, config.run.seed))
            self.steps = 0
            return super().__call__(run, config, until)

    run(study, tmp_path, Both(), monkeypatch, [0.5, 1.0], number=number)
    assert seeds == [("trial-0000-0", 0), ("trial-0000-1", 1)]
    assert study.trial(number).values == [0.75]


def test_a_clear_rate_that_no_gain_can_lift_to_the_best_is_hopeless(tmp_path: Path) -> None:
    study = made_up_sweep(tmp_path / "sweep", trials=6)
    for frozen in study.trials():
        frozen.intermediate_values[5] = run_results(frozen)[0].clear_rate - 0.1
    best = max(frozen.values[0] for frozen in study.trials())

    def verdict(rate: float) -> str:
        now = {"steps": 1000, "minutes": 1.0, "rung": 5, "clear_rate": rate}
        return hopeless(study.plan.options, study.trials(), [], **now)

    assert verdict(best - 0.05) == ""
    assert "within reach" in verdict(best - 0.2)


def test_values_of_a_trial_are_means_over_its_runs() -> None:
    options = SweepOptions(objective="minutes+clear-rate", goal=0.5)
    results = [RunResult(100, 2.0, 0.5, 80, 1.0), RunResult(100, 2.0, 0.25)]
    assert trial_values(results, options) == [(1.0 + 2.0 * 1.5) / 2, 0.375]


def test_progress_reports_every_tenth_once() -> None:
    seen: list[int] = []

    def judge(now: Progress) -> str:
        seen.extend(now.new_rungs)
        return ""

    progress = Progress(Budget(2000, 0.0), 0, judge)
    training = MadeUpTraining()
    for training.steps in (100, 150, 450, 900, 2000):
        progress.advance(training)
    assert seen == list(range(1, 10))


def test_parameters_that_do_not_fit_together_name_the_option(tmp_path: Path) -> None:
    study = make_study(tmp_path, space=("minibatch-size=4096,8192",))
    plan = study.plan
    plan.explicit["learn"].pop("minibatch_size")  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match=r"learn\.minibatch_size"):
        plan.config({"minibatch-size": "4096"})
