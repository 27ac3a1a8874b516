"""Levels of a run: spans, random ones, and those that are held out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from warpzone import _native, cli
from warpzone.config import EnvOptions, LearnOptions, ModelOptions, RunOptions, TrainConfig
from warpzone.envs.setup import expand_levels
from warpzone.errors import ConfigError
from warpzone.evaluation.result_files import results_table
from warpzone.runs.levels import draws_levels, held_out_levels, named_levels, trained_levels
from warpzone.training import session
from warpzone.training.environments import make_env


def config(**env: Any) -> TrainConfig:
    return TrainConfig(
        env=EnvOptions(obs="tiles", num_envs=8, num_threads=1, **env),
        model=ModelOptions(hidden=16),
        learn=LearnOptions(rollout_steps=8, minibatch_size=16),
        run=RunOptions(steps=64, torch_threads=1, device="cpu", video_minutes=0.0),
    )


def test_a_span_is_all_levels_from_the_first_to_the_last() -> None:
    assert expand_levels("1-3..2-2") == ["1-3", "1-4", "2-1", "2-2"]
    assert expand_levels("1-1..1-1, 8-4") == ["1-1", "8-4"]
    assert expand_levels(["1-1..1-2", "3-1"]) == ["1-1", "1-2", "3-1"]
    assert expand_levels("1-1..8-4") == expand_levels("all")


@pytest.mark.parametrize("text", ["1-4..1-1", "1-1..9-9", "..1-2", "1-1..", "1-1...1-3"])
def test_what_is_no_span_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="is not a range of levels"):
        expand_levels(text)


def test_random_is_all_levels_in_random_order() -> None:
    options = EnvOptions(level="random")
    assert named_levels("random") == _native.level_names("smb")
    assert draws_levels(options)
    assert not draws_levels(EnvOptions(level="all"))
    assert draws_levels(EnvOptions(level="all", level_order="random"))


def test_held_out_levels_are_never_played_while_training(rom_path: Path) -> None:
    env = make_env(config(level="random", held_out="1-1..7-4,8-2"))
    seen = set()
    for seed in range(6):
        env.reset(seed=seed)
        seen |= set(env.levels())
    env.close()
    assert seen == {"8-1", "8-3", "8-4"}


def test_holding_out_everything_or_the_unknown_is_refused() -> None:
    with pytest.raises(ConfigError, match="leaves no level of '1-1' to train on"):
        trained_levels(EnvOptions(level="1-1", held_out="1-1..1-2"))
    with pytest.raises(ConfigError, match=r"env\.held_out names '9-1'"):
        held_out_levels(EnvOptions(held_out="9-1"))


def test_evaluation_reports_held_out_levels_apart(
    tmp_path: Path, rom_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = config(level="1-1..1-2", held_out="1-2,1-4")
    run, _ = session.start(
        replace(options, run=replace(options.run, runs=str(tmp_path), name="few")), "quiet"
    )
    assert cli.main(["eval", str(run.path), "--episodes", "2"]) == 0
    told = capsys.readouterr().out
    seen, unseen = told.split("Held-out levels:")
    assert "| 1-1 |" in seen
    assert "| 1-2 |" not in seen
    assert "| 1-2 |" in unseen
    assert "| 1-4 |" in unseen
    assert "| all 2 |" in unseen
    rows = json.loads((run.path / "evaluation.json").read_text())["levels"]
    assert [(row["level"], row["held_out"]) for row in rows] == [
        ("1-1", False),
        ("1-2", True),
        ("1-4", True),
    ]


def test_all_levels_together_have_an_interval_of_their_own() -> None:
    row = {
        "clears": 9,
        "episodes": 10,
        "clear_rate": 0.9,
        "interval_low": 0.6,
        "interval_high": 0.98,
        "levels_cleared_mean": 0.9,
        "levels_cleared_max": 1,
        "deaths": 1,
        "progress_mean": 3000.0,
        "ends": {"clear": 9, "pit": 1},
        "losses": [],
        "held_out": False,
    }
    lost = [{"level": "1-2", "x": 512, "cause": "pit", "count": 1}]
    results = {
        "checkpoint": "x.pt",
        "greedy": False,
        "eval_temperature": None,
        "sticky_prob": 0.25,
        "sticky": "frame",
        "noop_max": 30,
        "seed": 1,
        "levels": [row | {"level": "1-1"}, row | {"level": "1-2", "losses": lost}],
    }
    table = results_table(results)
    assert "sticky actions 0.25 per frame, up to 30 no-op frames" in table
    assert "| all 2 | 90% | 70%-97% | 20 | | | | |" in table
    assert "| 1-1 | 90% | 60%-98% | 10 | 0.90, 1 | 1 | 3,000 px | clear 9, pit 1 |" in table
    assert "| 1-2 | 512-767 | pit | 1 |" in table
