"""Campaigns: what is trained, checked, measured and repeated, with training itself pretended."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pretended_campaign import World, go
from small_campaign import FLAGS, made_up_row, small_config

from warpzone import cli
from warpzone.campaign import task_training as module
from warpzone.campaign.board_files import Added, publish
from warpzone.campaign.board_json import read_board
from warpzone.campaign.ending import Ending
from warpzone.campaign.options import CampaignOptions
from warpzone.campaign.plan import Budget, Task
from warpzone.campaign.scoreboard import Scoreboard
from warpzone.campaign.state import (
    CampaignState,
    asked_of,
    open_state,
    read_state,
    write_state,
)
from warpzone.campaign.task_training import pause_after
from warpzone.errors import ResumeError, ScoreboardError


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


def test_a_distillation_uses_its_whole_budget() -> None:
    ending = Ending(("1-1",), math.inf, Budget(1000, 0.0), check_from=0)
    assert not ending(Pretended(500, 10.0, l1_1=(1.0, 100)))


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
