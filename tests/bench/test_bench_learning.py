"""Benchmarks of replay sampling and of overlapped collection."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from warpzone import cli
from warpzone.bench.overlap import balanced, overlap_config
from warpzone.config import TrainConfig


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_replay_prints_ratios_and_writes_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "draws.csv"
    arguments = [
        "--capacity",
        "5000",
        "--batch-size",
        "32",
        "--seconds",
        "0.01",
        "--csv",
        str(file),
    ]
    assert cli.main(["bench", "replay", *arguments]) == 0
    assert "32 of 5,000" in capsys.readouterr().out
    rows = read(file)
    assert [row["method"] for row in rows] == ["numpy random.choice", "sum-tree", "torch on cpu"]
    assert float(rows[0]["ratio"]) == 1.0


def test_overlap_measures_both_modes(
    tmp_path: Path, rom_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "overlap.csv"
    arguments = ["--num-envs", "2", "--rollout-steps", "4", "--hidden", "16", "--seconds", "0.01"]
    assert cli.main(["bench", "overlap", *arguments, "--csv", str(file)]) == 0
    assert f"wrote {file}" in capsys.readouterr().out
    rows = read(file)
    assert [(row["mode"], row["num_envs"], row["rollout"]) for row in rows] == [
        ("serial", "2", "4"),
        ("overlapped", "2", "4"),
    ]
    for row in rows:
        assert float(row["steps_per_second"]) > 0
        assert 0 <= float(row["learner_idle"]) <= 1
        assert 0 <= float(row["collector_idle"]) <= 1


@pytest.mark.parametrize("option", ["--num-envs", "--rollout-steps"])
def test_an_invalid_list_names_its_option(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "overlap", option, "8,x"]) == 2
    assert option in capsys.readouterr().err


@pytest.mark.parametrize("width", [40, 700])
def test_balanced_finds_a_width_with_equal_learning_and_collection_time(width: int) -> None:
    def ratio(config: TrainConfig) -> float:
        return config.model.hidden / width

    found = balanced(overlap_config(8, 32, "tiles", "1-1"), ratio)
    assert 1 / 1.1 <= ratio(found) <= 1.1


def test_balanced_reduces_the_epochs_if_the_smallest_network_is_too_slow() -> None:
    def ratio(config: TrainConfig) -> float:
        return config.learn.epochs * config.model.hidden / 40

    found = balanced(overlap_config(8, 32, "tiles", "1-1"), ratio)
    assert found.learn.epochs == 2
    assert 1 / 1.1 <= ratio(found) <= 1.1
