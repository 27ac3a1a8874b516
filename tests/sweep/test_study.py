"""The journal of a sweep survives what kills do to it, and other programs can open it."""

from __future__ import annotations

import re
from pathlib import Path

import optuna
import pytest
from small_sweep import made_up_sweep, small_plan

from warpzone import cli
from warpzone.config import TrainConfig, resolve
from warpzone.errors import SweepError
from warpzone.sweep.files import SweepFolder, read_plan
from warpzone.sweep.overview import read_overview, swept_options
from warpzone.sweep.show import values_text
from warpzone.sweep.space import parameters_of
from warpzone.sweep.storage import drop_incomplete_line
from warpzone.sweep.study import open_study


@pytest.mark.parametrize("sampler", ["tpe", "gp", "random"])
def test_a_reopened_sweep_proposes_what_an_unbroken_one_would(tmp_path: Path, sampler: str) -> None:
    def parameters(name: str, breaks: bool) -> list[dict[str, object]]:
        study = made_up_sweep(tmp_path / name, sampler=sampler, trials=11)
        for _ in range(2):
            if breaks:
                study = open_study(SweepFolder(tmp_path / name), study.plan)
            number = study.ask(seed=0)
            study.finish(number, [0.5])
        return [trial.params for trial in study.trials()]

    assert parameters("whole", False) == parameters("broken", True)


def test_the_first_trial_is_the_preset_as_far_as_the_space_allows(tmp_path: Path) -> None:
    space = ("learning-rate=1e-4:3e-3:log", "epochs=1:2", "optimizer=adamw,adam")
    study = made_up_sweep(tmp_path / "a", space=space, trials=2)
    preset = resolve(study.plan.explicit, study.plan.preset).learn
    first, second = (trial.params for trial in study.trials())
    assert first["learning-rate"] == preset.learning_rate
    assert first["optimizer"] == preset.optimizer
    assert preset.epochs > 2, "outside the space, so it is sampled"
    assert first["epochs"] in (1, 2)
    assert second["learning-rate"] != preset.learning_rate


def test_an_annealed_weight_is_not_a_number_of_a_range(tmp_path: Path) -> None:
    plan = small_plan(space=("reward-death=1:6", "optimizer=adam,adamw"))
    annealed = resolve({"reward": {"death": (2.0, 1.0, 1000)}}, plan.preset)
    assert parameters_of(plan.space, annealed) == {"optimizer": "adam"}


def test_the_preset_is_tried_first_after_a_kill_as_well(tmp_path: Path) -> None:
    study = made_up_sweep(tmp_path / "a", trials=0)
    trial = study.study.ask()
    study.complete(trial.number, seed=0)
    preset = study.plan.preset_parameters()
    assert preset.keys() == {"optimizer"}, "the others are outside the space"
    assert preset.items() <= study.trial(trial.number).params.items()


def test_optuna_opens_the_journal_without_warpzone(tmp_path: Path) -> None:
    study = made_up_sweep(tmp_path / "a")
    backend = optuna.storages.journal.JournalFileBackend(str(tmp_path / "a/journal.log"))
    storage = optuna.storages.JournalStorage(backend)
    found = optuna.load_study(study_name="warpzone", storage=storage)
    assert [trial.params for trial in found.trials] == [trial.params for trial in study.trials()]


def test_a_cut_line_is_dropped_before_the_next_is_written(tmp_path: Path) -> None:
    study = made_up_sweep(tmp_path / "a", trials=3)
    journal = tmp_path / "a" / "journal.log"
    with journal.open("ab") as file:
        file.write(b'{"op_code": 4, "work')
    study = open_study(SweepFolder(tmp_path / "a"), study.plan)
    number = study.ask(seed=0)
    study.finish(number, [0.5])
    again = open_study(SweepFolder(tmp_path / "a"), study.plan)
    assert [trial.state.name for trial in again.trials()] == ["COMPLETE"] * 4


@pytest.mark.parametrize("content", [b"", b"a\n", b"a\nb\n" * 50_000])
def test_whole_lines_stay(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content + b"cut" * 30_000)
    drop_incomplete_line(path)
    assert path.read_bytes() == content


def test_parameters_missing_after_a_kill_are_chosen_later(tmp_path: Path) -> None:
    study = made_up_sweep(tmp_path / "a", trials=2)
    trial = study.study.ask()
    trial.suggest_float("learning-rate", 1e-4, 1e-3, log=True)
    chosen = dict(trial.params)
    study.complete(trial.number, seed=0)
    found = study.trial(trial.number).params
    assert found.keys() == {"learning-rate", "epochs", "optimizer"}
    assert chosen.items() <= found.items()


def test_a_trial_ends_once(tmp_path: Path) -> None:
    study = made_up_sweep(tmp_path / "a", trials=1)
    study.fail(0, "too late")
    assert study.trial(0).state.name == "COMPLETE"
    assert "error" not in study.trial(0).user_attrs


def test_the_plan_survives_being_written_and_read(tmp_path: Path) -> None:
    study = made_up_sweep(tmp_path / "a", trials=1)
    assert read_plan(tmp_path / "a") == study.plan


def test_another_objective_is_refused(tmp_path: Path) -> None:
    made_up_sweep(tmp_path / "a", trials=1)
    with pytest.raises(SweepError, match="another objective"):
        open_study(SweepFolder(tmp_path / "a"), small_plan(objective="steps"))


def test_the_overview_ranks_trials_and_names_what_matters(tmp_path: Path) -> None:
    made_up_sweep(tmp_path / "a", trials=30)
    overview = read_overview(tmp_path / "a")
    rates = [trial.params["learning-rate"] for trial in overview.ranked()]
    assert rates == sorted(rates)
    assert next(iter(overview.importance)) == "learning-rate"
    hours, values = zip(*overview.best_so_far(), strict=True)
    assert list(values) == sorted(values)
    assert hours[-1] == pytest.approx(30 * 0.5 / 60)


def test_train_uses_the_best_trial_unless_options_say_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made_up_sweep(tmp_path / "a", trials=3)
    best = read_overview(tmp_path / "a").best[0]
    preset, options = swept_options(tmp_path / "a", None)
    assert preset == "cpu-quick"
    assert options["learn"]["learning_rate"] == best.params["learning-rate"]
    from warpzone.commands.train import Train

    def show(self: Train, config: TrainConfig) -> int:
        print(config.learn, config.run.seed)
        return 0

    monkeypatch.setattr(Train, "_dry_run", show)
    words = ["train", "--from-sweep", str(tmp_path / "a"), "--epochs", "7", "--seed", "5"]
    assert cli.main([*words, "--dry-run"]) == 0
    printed = capsys.readouterr().out
    assert f"learning_rate={best.params['learning-rate']!r}" in printed
    assert "epochs=7" in printed
    assert printed.endswith(" 5\n")


def test_a_pareto_front_asks_for_a_choice(tmp_path: Path) -> None:
    study = made_up_sweep(tmp_path / "a", objective="minutes+clear-rate", trials=1)
    number = study.ask(seed=0)
    study.finish(number, [0.1, 0.0])
    with pytest.raises(SweepError, match="Pareto front of 2 trials"):
        swept_options(tmp_path / "a", None)
    assert swept_options(tmp_path / "a", 1)[0] == "cpu-quick"


def test_show_prints_the_trials_and_the_configuration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made_up_sweep(tmp_path / "a")
    assert cli.main(["sweep", "show", str(tmp_path / "a")]) == 0
    text = capsys.readouterr().out
    assert "12 of 12 trials: 12 finished" in text
    assert "[learn]" in text
    assert "--sweep-trial" in text


def test_a_pruned_trial_has_no_result(tmp_path: Path) -> None:
    study = made_up_sweep(tmp_path / "a", trials=1)
    number = study.ask(seed=0)
    study.report(number, 1, 1.0)
    study.prune(number, "clear rate 100% at 10% of run 0")
    assert study.trial(number).values == [1.0], "as Optuna records it"
    assert values_text(study.trial(number), study.plan.options) == ""
    assert values_text(study.trial(0), study.plan.options) != ""


def test_the_report_is_one_page_with_charts_and_the_configuration(tmp_path: Path) -> None:
    made_up_sweep(tmp_path / "a")
    assert cli.main(["report", str(tmp_path / "a"), "-o", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text()
    for part in ("Best result so far", "Importance", "Parallel coordinates", "learning_rate ="):
        assert part in page
    assert page.count("<svg") == 3
    assert str(tmp_path) not in page, "a page names no folder of the machine"
    assert not re.search(r"""(?:src|href)=["']?http|url\(|@import""", page)
