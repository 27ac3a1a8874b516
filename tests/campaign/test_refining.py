"""Campaigns that refine, chain and distill, with training itself pretended."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pretended_campaign import World, go
from small_campaign import small_config

from warpzone.campaign.board_json import read_board
from warpzone.campaign.campaign import Campaign
from warpzone.campaign.options import CampaignOptions
from warpzone.campaign.plan import tasks_of, verify_options
from warpzone.campaign.state import (
    CampaignState,
    asked_of,
)
from warpzone.commands.campaign import Campaign as CampaignCommand
from warpzone.config import make_config, with_refining, with_teachers
from warpzone.errors import ConfigError


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
