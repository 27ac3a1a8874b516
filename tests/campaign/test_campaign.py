"""Campaigns: what is trained, checked, measured and repeated, with training itself pretended."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from small_campaign import FLAGS, made_up_row, small_config

from warpzone import cli
from warpzone.campaign import task_training as module
from warpzone.campaign.board_files import Added, publish
from warpzone.campaign.board_json import read_board
from warpzone.campaign.campaign import Campaign, train_in_turn
from warpzone.campaign.ending import Ending
from warpzone.campaign.measurer import Measurer
from warpzone.campaign.options import CampaignOptions
from warpzone.campaign.plan import Budget, Task, tasks_of, verify_options
from warpzone.campaign.scoreboard import Scoreboard
from warpzone.campaign.state import (
    CampaignState,
    asked_of,
    open_state,
    read_state,
    write_state,
)
from warpzone.campaign.task_training import TaskTraining, pause_after
from warpzone.commands.campaign import Campaign as CampaignCommand
from warpzone.config import TrainConfig, make_config, with_refining, with_teachers
from warpzone.errors import ConfigError, ResumeError, ScoreboardError
from warpzone.system.signals import StopRequest


@dataclass
class World:
    """Training that takes no time: a run's skill is what its script says for each session."""

    folder: Path
    skills: dict[str, list[tuple[int, int, bool]]]
    """For each run and session: steps at its end, clears of 100, and whether it promised."""
    stop_at: int = 10**9
    sessions: list[tuple[str, int]] = field(default_factory=list)
    """Run and steps that were allowed."""
    teachers: list[str] = field(default_factory=list)
    begun_with: list[str] = field(default_factory=list)
    seeds: list[int] = field(default_factory=list)
    reported: list[str] = field(default_factory=list)
    now: dict[str, tuple[int, int]] = field(default_factory=dict)

    def train(self, run: Path, config: TrainConfig, ending: Ending) -> StopRequest:
        stop = StopRequest()
        if len(self.sessions) >= self.stop_at:
            stop.ask("Ctrl-C")
            return stop
        self.sessions.append((run.name, config.run.steps))
        self.teachers.append(config.distill.teachers)
        self.begun_with.append(config.run.init_from)
        steps, clears, ending.promised = self.skills[run.name].pop(0)
        self.now[run.name] = steps, clears
        return stop

    def measure(self, trained: Path, level: str, episodes: int, seed: int) -> Any:
        assert episodes <= 200
        self.seeds.append(seed)
        return SimpleNamespace(clear_rate=self.now[trained.name][1] / 100)

    def add(
        self,
        folder: Path,
        board: Scoreboard,
        target: Path,
        *,
        place: Path,
        whole: bool,
        measurer: Measurer | None,
        lock: Any,
    ) -> Added:
        assert (measurer is not None) == whole, "many levels are measured on all cores"
        clears = self.now[target.name][1]
        both = target.name == "together" or target.name.startswith("generalist")
        levels = ["1-1", "1-2"] if both else [target.name.partition("-refined")[0]]
        assert whole == (len(levels) > 1)
        rows = [made_up_row(level, clears, f"{target.name}.policy") for level in levels]
        board = board.with_rows(rows)
        publish(folder, board)
        return Added(board, rows, rows)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World(tmp_path, {})
    monkeypatch.setattr(module, "find_latest", lambda run: run)
    monkeypatch.setattr(module, "find_best", lambda run: None)
    monkeypatch.setattr(module, "load_policy", lambda path: path)
    monkeypatch.setattr(
        module, "read_meta", lambda path: SimpleNamespace(steps=world.now[path.name][0])
    )
    monkeypatch.setattr(module, "measure", world.measure)
    monkeypatch.setattr(module, "add_policy", world.add)
    return world


def go(world: World, **options: Any) -> StopRequest:
    """Runs the command, so to speak, in the folder of the world."""
    asked = CampaignOptions(**{"levels": "1-1,1-2", "steps_per_level": 1000} | options)
    config = small_config()
    state, _ = open_state(world.folder, asked_of(config, asked), False)
    report = world.reported.append
    training = TaskTraining(world.folder, config, asked, train=world.train, report=report)
    return train_in_turn(Campaign(world.folder, config, asked, state, report=report), training)


def test_a_level_ends_when_fresh_episodes_confirm_the_goal(world: World) -> None:
    world.skills = {"1-1": [(300, 95, True)], "1-2": [(400, 90, True)]}
    assert not go(world)
    assert world.sessions == [("1-1", 1000), ("1-2", 1000)]
    assert read_board(world.folder).reached == ["1-1", "1-2"]
    assert world.reported[-1] == "2 of 32 levels at >= 90%"


def test_a_failed_check_continues_training_after_a_pause(world: World) -> None:
    world.skills = {"1-1": [(300, 80, True), (500, 85, True), (700, 95, True)]}
    go(world, levels="1-1")
    assert len(world.sessions) == 3
    assert len(set(world.seeds)) == 3, "every check plays other episodes"
    assert max(world.seeds) < 2**61, "the scoreboard's own seeds begin there"
    state = read_state(world.folder)
    assert state is not None
    # 5 % of the round, and half of the 5 % that were missing at 500 steps.
    assert (state.of("1-1").checks, state.of("1-1").check_from) == (2, 575)


def test_a_pause_does_not_grow_with_a_large_budget() -> None:
    alone, four = Task("1-1", ("1-1",)), Task("together", ("1-1", "1-2", "1-3", "1-4"))
    assert pause_after(0.05, alone, 1000) == 75
    assert pause_after(0.0, alone, 100_000_000) == 60_000
    assert pause_after(0.1, alone, 100_000_000) == 120_000
    assert pause_after(0.1, four, 100_000_000) == 300_000
    assert pause_after(0.0, alone, 1) == 1


def test_a_level_below_the_goal_is_measured_when_its_budget_is_used_up(world: World) -> None:
    world.skills = {"1-1": [(1000, 30, False)], "1-2": [(1000, 20, False)]}
    go(world)
    board = read_board(world.folder)
    assert [row.score.clears for row in board.rows.values()] == [30, 20]
    go(world)
    assert len(world.sessions) == 2, "nothing is trained twice"


def test_later_rounds_give_more_to_the_levels_below_the_goal(world: World) -> None:
    world.skills = {"1-1": [(1000, 30, False), (2000, 50, False)], "1-2": [(400, 95, True)]}
    go(world, rounds=2)
    assert world.sessions == [("1-1", 1000), ("1-2", 1000), ("1-1", 2000)]
    world.skills["1-1"] = [(2200, 91, True)]
    go(world, rounds=3)
    assert world.sessions[3:] == [("1-1", 3000)]
    assert read_board(world.folder).summary == "2 of 32 levels at >= 90%"


def test_an_interrupted_campaign_resumes_where_it_left_off(world: World) -> None:
    world.skills = {"1-1": [(1000, 30, False)], "1-2": [(1000, 20, False)]}
    world.stop_at = 1
    assert go(world).reason == "Ctrl-C"
    assert list(read_board(world.folder).rows) == ["1-1"]
    world.stop_at = 9
    assert not go(world)
    assert [name for name, _ in world.sessions] == ["1-1", "1-2"]


def test_together_means_one_run_with_the_budget_of_all(world: World) -> None:
    world.skills = {"together": [(900, 70, True), (1900, 92, True)]}
    go(world, together=True)
    assert world.sessions == [("together", 2000)] * 2
    assert read_board(world.folder).reached == ["1-1", "1-2"]


def test_a_generalist_learns_from_the_policies_of_the_last_round(world: World) -> None:
    world.skills = {
        "1-1": [(1000, 30, False), (2000, 60, False)],
        "1-2": [(400, 95, True)],
        "generalist-2": [(5000, 95, False)],
    }
    go(world, rounds=2, generalist=True, generalist_steps=5000)
    names = [name for name, _ in world.sessions]
    assert names == ["1-1", "1-2", "1-1", "generalist-2"]
    assert world.sessions[-1][1] == 5000
    assert world.teachers == ["", "", "", str(world.folder / "policies")]
    go(world, rounds=2, generalist=True, generalist_steps=5000)
    assert len(world.sessions) == 4, "nothing is trained twice"


def test_every_level_is_refined_from_its_own_run_before_the_generalist(world: World) -> None:
    world.skills = {
        "1-1": [(1000, 30, False)],
        "1-2": [(500, 62, True)],
        "1-1-refined": [(3000, 80, False)],
        "1-2-refined": [(1500, 97, False)],
        "generalist": [(5000, 95, False)],
    }
    asked = {"refine_steps": 3000, "generalist": True, "generalist_steps": 5000}
    go(world, **asked)
    assert world.sessions == [
        ("1-1", 1000),
        ("1-1-refined", 3000),
        ("1-2", 1000),
        ("1-2-refined", 1500),
        ("generalist", 5000),
    ]
    runs = world.folder / "runs"
    assert world.begun_with == ["", str(runs / "1-1"), "", str(runs / "1-2"), ""]
    go(world, **asked)
    assert len(world.sessions) == 5, "nothing is trained twice"


def test_a_level_that_is_refined_is_measured_after_that_only(world: World) -> None:
    world.skills = {"1-1": [(200, 62, True)], "1-1-refined": [(1000, 97, False)]}
    go(world, levels="1-1", refine_steps=3000)
    assert world.sessions == [("1-1", 1000), ("1-1-refined", 1000)], "a third at least"
    assert world.seeds == [], "nothing is checked"
    assert [row.score.clears for row in read_board(world.folder).rows.values()] == [97]


def test_later_rounds_refine_the_levels_below_the_goal_again(world: World) -> None:
    world.skills = {
        "1-1": [(1000, 30, False)],
        "1-1-refined": [(3000, 80, False)],
        "1-1-refined-2": [(3000, 91, False)],
        "1-2": [(500, 62, True)],
        "1-2-refined": [(1500, 97, False)],
        "generalist-3": [(5000, 98, False)],
    }
    asked = {"refine_steps": 3000, "generalist": True, "generalist_steps": 5000, "rounds": 3}
    go(world, **asked)
    assert world.sessions == [
        ("1-1", 1000),
        ("1-1-refined", 3000),
        ("1-2", 1000),
        ("1-2-refined", 1500),
        ("1-1-refined-2", 3000),
        ("generalist-3", 5000),
    ]
    assert world.begun_with[4] == str(world.folder / "runs" / "1-1-refined")
    go(world, **asked)
    assert len(world.sessions) == 6, "nothing is trained twice"


def test_with_several_jobs_the_last_levels_come_first() -> None:
    names = [task.name for task in tasks_of(CampaignOptions(levels="1-1..1-3", jobs=2))]
    assert names == ["1-3", "1-2", "1-1"]


def test_the_levels_of_a_chain_come_first_and_start_from_each_other(world: World) -> None:
    world.skills = {
        "1-2": [(200, 62, True)],
        "1-2-refined": [(1000, 91, False)],
        "1-3-refined": [(4000, 40, False)],
        "1-1-refined": [(4000, 97, False)],
        "1-3-refined-2": [(3000, 95, False)],
        "1-4": [(500, 70, True)],
        "1-4-refined": [(1500, 98, False)],
    }
    go(world, levels="1-1..1-4", refine_steps=3000, chain="1-2,1-3,1-1", rounds=2)
    runs = world.folder / "runs"
    sources = dict(zip((name for name, _ in world.sessions), world.begun_with, strict=True))
    assert {name: source.rpartition("/")[2] for name, source in sources.items()} == {
        "1-2": "",
        "1-2-refined": "1-2",
        "1-3-refined": "1-2-refined",
        "1-1-refined": "1-3-refined",
        "1-4": "",
        "1-4-refined": "1-4",
        "1-3-refined-2": "1-3-refined",
    }
    assert sources["1-3-refined"] == str(runs / "1-2-refined")
    budgets = dict(world.sessions)
    assert (budgets["1-2-refined"], budgets["1-3-refined-2"]) == (1000, 3000)
    assert budgets["1-3-refined"] == 4000, "1000 steps to learn the level, as the others have"


def test_a_level_of_a_chain_waits_for_the_one_before(world: World) -> None:
    asked = CampaignOptions(levels="1-1..1-3", refine_steps=3000, chain="1-1,1-2", jobs=3)
    state = CampaignState(asked_of(small_config(), asked))
    campaign = Campaign(world.folder, small_config(), asked, state, report=print)
    started = []
    while (step := campaign.next_step(busy=started)) is not None:
        started.append(step.task.name)
    assert started == ["1-1", "1-3"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"chain": "1-1,1-2"}, "works with --refine-steps"),
        ({"chain": "1-1,1-2,1-1", "refine_steps": 5}, "names a level twice"),
        ({"chain": "1-1,8-4", "refine_steps": 5}, "8-4, which --levels does not train"),
    ],
)
def test_a_chain_that_makes_no_sense_is_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        verify_options(CampaignOptions(levels="1-1..1-4", **options))


def test_refining_keeps_what_its_preset_does_not_set() -> None:
    config = make_config("campaign", environment={}, actions="complex", random_power=0.3)
    refined = with_refining(config, "runs/1-1")
    assert (refined.env.actions, refined.env.random_power) == ("complex", 0.3)
    fresh = make_config("refine", environment={}, actions="complex", random_power=0.3)
    assert refined == replace(fresh, run=replace(fresh.run, init_from="runs/1-1"))


def test_teachers_of_a_generalist_learn_to_play_whole_games_unless_options_say_how() -> None:
    config = make_config("campaign", environment={}, random_power=0.1)
    env = with_refining(config, "runs/1-1", whole_games=True).env
    assert (env.random_power, env.game_start_prob) == (0.1, 0.4)
    assert with_refining(config, "runs/1-1").env.game_start_prob == 0.0


@pytest.mark.parametrize(("solutions", "share"), [("", 0.0), ("solutions", 0.2)])
def test_a_generalist_plays_whole_games_with_the_actions_of_its_teachers(
    solutions: str, share: float
) -> None:
    config = make_config("campaign", environment={}, actions="complex", from_solutions=solutions)
    student = with_teachers(config, "policies")
    assert student.env.actions == "complex"
    assert student.env.game_start_prob > 0
    assert student.starts.share == share


def test_the_command_gives_a_generalist_what_all_levels_need() -> None:
    def actions(**options: Any) -> str:
        return CampaignCommand(**options)._config().env.actions

    assert actions() == "simple"
    assert actions(generalist=True) == "whole-game"
    assert actions(generalist=True, training={"env": {"actions": "complex"}}) == "complex"


def test_a_distillation_uses_its_whole_budget() -> None:
    ending = Ending(("1-1",), math.inf, Budget(1000, 0.0), check_from=0)
    assert not ending(Pretended(500, 10.0, l1_1=(1.0, 100)))


def test_together_is_reached_by_one_policy_and_not_by_several(world: World) -> None:
    rows = [made_up_row("1-1", 95, "a.policy"), made_up_row("1-2", 95, "b.policy")]
    publish(world.folder, Scoreboard().with_rows(rows))
    world.skills = {"together": [(900, 92, True)]}
    go(world, together=True)
    assert world.sessions == [("together", 2000)]
    go(world, together=True)
    assert len(world.sessions) == 1, "now one policy does it"


def test_a_row_below_the_goal_after_a_check_that_passed_does_not_end_training(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.skills = {"1-1": [(300, 80, True), (500, 95, True)]}
    monkeypatch.setattr(module, "measure", lambda *_: SimpleNamespace(clear_rate=0.99))
    go(world, levels="1-1")
    assert len(world.sessions) == 2


def test_the_better_of_best_and_latest_is_measured(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.now = {"best": (500, 60), "1-1": (1000, 40)}
    world.skills = {"1-1": [(1000, 40, False)]}
    monkeypatch.setattr(module, "find_best", lambda run: run.with_name("best"))
    measured = []

    def add(folder: Path, board: Scoreboard, target: Path, **_: Any) -> Added:
        measured.append(target.name)
        rows = [made_up_row("1-1", 60)]
        return Added(board.with_rows(rows), rows, rows)

    monkeypatch.setattr(module, "add_policy", add)
    go(world, levels="1-1")
    assert measured == ["best"]


class Pretended:
    """What an ending looks at."""

    def __init__(self, steps: int, elapsed: float, **rates: tuple[float, int]) -> None:
        self.steps, self.elapsed = steps, elapsed
        named = {level.replace("_", "-")[1:]: rate for level, rate in rates.items()}
        self.statistics = SimpleNamespace(level_clear_rates=named)


@pytest.mark.parametrize(
    ("trainer", "ends", "promised"),
    [
        (Pretended(500, 10.0, l1_1=(0.61, 100), l1_2=(0.95, 100)), True, True),
        (Pretended(500, 10.0, l1_1=(0.9, 100), l1_2=(0.59, 100)), False, False),
        (Pretended(500, 10.0, l1_1=(1.0, 99), l1_2=(1.0, 100)), False, False),
        (Pretended(500, 10.0, l1_1=(1.0, 100)), False, False),
        (Pretended(499, 10.0, l1_1=(1.0, 100), l1_2=(1.0, 100)), False, False),
        (Pretended(100, 120.0), True, False),
    ],
)
def test_training_ends_at_a_promise_for_every_level_or_when_time_is_up(
    trainer: Any, ends: bool, promised: bool
) -> None:
    ending = Ending(("1-1", "1-2"), 0.9, Budget(1000, 2.0), check_from=500)
    assert ending(trainer) is ends
    assert ending.promised is promised


def test_another_configuration_is_refused_by_name_and_budgets_are_free(tmp_path: Path) -> None:
    config, options = small_config(), CampaignOptions()
    asked = asked_of(config, options)
    write_state(tmp_path, CampaignState(asked))
    freely = replace(options, rounds=3, steps_per_level=7, levels="1-1", goal=0.5)
    assert open_state(tmp_path, asked_of(config, freely), False)[1] == []
    other = replace(config, learn=replace(config.learn, learning_rate=0.5))
    with pytest.raises(ResumeError, match=r"learn\.learning_rate: was 0\.001, now 0\.5"):
        open_state(tmp_path, asked_of(other, options), False)
    with pytest.raises(ResumeError, match=r"campaign\.together: was False, now True"):
        open_state(tmp_path, asked_of(config, replace(options, together=True)), False)
    _, changes = open_state(tmp_path, asked_of(other, options), True)
    assert [change.option for change in changes] == ["learn.learning_rate"]
    good = {"format": 1, "asked": {}, "tasks": {}}
    wrong = [
        [],
        good | {"format": 2},
        good | {"asked": []},
        good | {"tasks": []},
        good | {"tasks": {"1-1": 3}},
        good | {"tasks": {"1-1": {"rounds": "many", "checks": 0, "check_from": 0}}},
        good | {"tasks": {"1-1": {"rounds": 0}}},
    ]
    for tree in wrong:
        (tmp_path / "campaign.json").write_text(json.dumps(tree))
        with pytest.raises(ScoreboardError, match="is not a campaign"):
            read_state(tmp_path)
    (tmp_path / "campaign.json").write_text("[" * 100_000)
    with pytest.raises(ScoreboardError, match="is not a campaign"):
        read_state(tmp_path)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--levels", "9-1"], "'9-1'"),
        (["--together", "--generalist"], "exclude each other"),
        (["--together", "--refine-steps", "1M"], "exclude each other"),
        (["--goal", "1.5"], "--goal is 1.5"),
        (["--rounds", "0"], "--rounds is 0; it must be from 1 to 10,000"),
        (["--level", "1-2"], "has no option --level; did you mean --levels?"),
        (["--name", "mine"], "has no option --name"),
        (["--levels", "1-1,1-2", "--held-out", "1-2"], "both name 1-2"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    words: list[str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["campaign", *words, "-o", str(tmp_path / "c")]) == 2
    assert reason in capsys.readouterr().err
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("name", ["thesis.tex", "checkpoints/failed-00000007.pt"])
def test_a_campaign_never_removes_what_it_did_not_write(
    tmp_path: Path, rom_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    precious = tmp_path / "c" / "runs" / "1-1" / name
    precious.parent.mkdir(parents=True)
    precious.write_text("precious")
    words = ["campaign", "--levels", "1-1", "-o", str(tmp_path / "c"), *FLAGS]
    assert cli.main(words) == 2
    assert f"holds {name}; nothing was removed" in capsys.readouterr().err
    assert precious.read_text() == "precious"


def test_a_campaign_in_the_folder_of_a_run_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.toml").touch()
    assert cli.main(["campaign", "-o", str(tmp_path)]) == 2
    assert "is a run" in capsys.readouterr().err
