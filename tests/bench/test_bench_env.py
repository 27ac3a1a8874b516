import csv
import json
from pathlib import Path

import numpy as np
import pytest

from warpzone import cli
from warpzone.bench.env import held_actions, measure, measure_steps
from warpzone.bench.peers.play import action_sequence


def test_workload_equals_that_of_the_peers() -> None:
    for seed in (0, 7):
        np.testing.assert_array_equal(held_actions(seed, 500), action_sequence(seed, 500))


def test_rate_is_measured_with_the_given_clock() -> None:
    now = 0.0
    units = 0

    def run(batch: int) -> None:
        nonlocal now, units
        now += 0.5
        units += batch

    assert measure(run, 10.0, 100, clock=lambda: now) == 200
    assert units == 2000


def test_measurements_are_consistent() -> None:
    row = measure_steps("1-1", "tiles", 2, 1, seconds=0.1, frame_skip=3)
    assert row.frames_per_second == pytest.approx(3 * row.steps_per_second)
    assert row.steps_per_second > 100
    assert 0 < row.python_share < 1


def test_command_measures_every_combination(tmp_path: Path, capsys) -> None:
    table, data = tmp_path / "speed.csv", tmp_path / "speed.json"
    arguments = ["--num-envs", "1,2", "--num-threads", "1,2", "--obs", "pixels,tiles"]
    files = ["--json", str(data), "--csv", str(table)]
    assert cli.main(["bench", "env", *arguments, "--seconds", "0.05", *files]) == 0
    figures = json.loads(data.read_text())
    measured = [(row["obs"], row["num_envs"], row["num_threads"]) for row in figures["env"]]
    assert measured == [
        (obs, *pair) for obs in ("pixels", "tiles") for pair in ((1, 1), (2, 1), (2, 2))
    ]
    assert [row["rendered"] for row in figures["console"]] == [False, True]
    assert figures["machine"]["cpu"]
    with table.open() as file:
        assert [row["obs"] for row in csv.DictReader(file)] == ["pixels"] * 3 + ["tiles"] * 3
    output = capsys.readouterr().out
    assert "agent steps/s" in output
    assert "not rendered" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--num-envs", "0"], "--num-envs is '0'"),
        (["--num-threads", "two"], "--num-threads is 'two'"),
        (["--obs", "sound"], "'sound'"),
        (["--seconds", "0"], "--seconds is 0"),
        (["--json", "/nowhere/speed.json"], "/nowhere does not exist"),
        (["--level", "9-9"], "9-9"),
    ],
)
def test_invalid_options_are_named_before_anything_runs(arguments, message: str, capsys) -> None:
    assert cli.main(["bench", "env", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_backends_are_compared_in_one_table(tmp_path: Path, capsys) -> None:
    data, table = tmp_path / "backends.json", tmp_path / "backends.csv"
    arguments = ["--backends", "native,nes-py", "--num-envs", "1", "--seconds", "0.2"]
    assert cli.main(["bench", "env", *arguments, "--json", str(data), "--csv", str(table)]) == 0
    rows = json.loads(data.read_text())["backends"]
    assert [(row["backend"], row["vector"]) for row in rows] == [
        ("native", "native"),
        ("nes-py", "async"),
    ]
    assert all(row["steps_per_second"] > 0 and row["megabytes"] > 10 for row in rows)
    assert all(row["start_seconds"] > 0 for row in rows)
    with table.open() as file:
        assert [row["backend"] for row in csv.DictReader(file)] == ["native", "nes-py"]
    output = capsys.readouterr().out
    for heading in ("agent steps/s", "start", "memory"):
        assert heading in output


def test_unknown_backend_is_rejected_before_anything_is_measured(capsys) -> None:
    assert cli.main(["bench", "env", "--backends", "native,fceux"]) == 2
    assert "'fceux'" in capsys.readouterr().err
