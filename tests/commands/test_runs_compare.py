"""`warpzone runs compare`: curves, options that differ, bands over seeds; text and page."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from warpzone import cli
from warpzone.config import TrainConfig, to_toml


def make_run(folder: Path, name: str, *, seed: int = 0, gamma: float = 0.97) -> Path:
    run = folder / name
    run.mkdir(parents=True)
    config = TrainConfig()
    config = replace(
        config,
        run=replace(config.run, name=name, seed=seed, runs=str(folder)),
        learn=replace(config.learn, gamma=gamma),
    )
    (run / "config.toml").write_text(to_toml(config))
    rows = [
        {
            "run/steps": 1000 * i,
            "run/elapsed": 10.0 * i,
            "rollout/clear_rate": i / 10,
            "loss/value": gamma + seed,
        }
        for i in range(1, 11)
    ]
    (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return run


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "runs"
    make_run(folder, "seed-0", seed=0)
    make_run(folder, "seed-1", seed=1)
    make_run(folder, "gamma", gamma=0.5)
    monkeypatch.chdir(tmp_path)
    return folder


def test_runs_are_named_and_grouped_by_seed(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["runs", "compare", "seed-0", "gamma", "seed-1"]) == 0
    out = capsys.readouterr().out
    assert "rollout/clear_rate by environment steps" in out
    assert "  * seed (2 seeds): last 100%, from 10% to 100%" in out
    assert "  + gamma: last 100%" in out
    assert re.search(r"learn.gamma\W+0.97\W+0.5\W+0.97", out)
    assert re.search(r"run.seed\W+0\W+0\W+1", out)
    assert "run.name" not in out


def test_a_folder_stands_for_its_runs_and_metrics_and_axis_can_be_chosen(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--metric", "loss/value", "--metric", "rollout/clear_rate", "--axis", "time"]
    assert cli.main(["runs", "compare", "runs", *arguments]) == 0
    out = capsys.readouterr().out
    assert out.index("loss/value by training time") < out.index("rollout/clear_rate by")
    assert "1:40" in out, "the last position, as a duration"


def test_runs_with_the_same_options_are_said_to_be_equal(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(runs, "again", seed=0)
    assert cli.main(["runs", "compare", "again", "seed-0"]) == 0
    assert "All options are the same." in capsys.readouterr().out


def test_the_page_has_bands_differences_and_no_folders(runs: Path) -> None:
    assert cli.main(["runs", "compare", "runs", "-o", "compare.html"]) == 0
    page = Path("compare.html").read_text()
    assert str(runs) not in page
    figures = json.loads(re.findall(r"json\">(.*?)</script>", page)[0])
    assert [figure["title"] for figure in figures] == ["rollout/clear_rate", "loss/value"]
    plain, band = figures[1]["curves"]
    assert (plain["label"], band["label"]) == ("gamma", "seed (2 seeds)")
    assert "low" not in plain["steps"]
    assert band["steps"]["low"][0] == 0.97
    assert band["steps"]["high"][0] == 1.97
    assert (band["steps"]["x"][-1], band["time"]["x"][-1]) == (10_000, 100)
    assert "<tr><td>learn.gamma<td>0.5<td>0.97<td>0.97</tr>" in page


def test_a_terminal_that_knows_only_ascii_gets_ascii(runs: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "warpzone", "runs", "compare", "runs"],
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"100% +" in done.stdout
    assert b"\\u" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["seed-0"], "only runs/seed-0 was given; a comparison needs two runs"),
        (["seed-0", "runs/seed-0"], "a comparison needs two runs"),
        (["seed-0", "nosuch"], "no run below runs has this name"),
        (["seed-0", "runs/nosuch"], "runs/nosuch is not a run, and there are no runs below it"),
        (["runs", "--metric", "loss/valu"], "has values of 'loss/valu'; did you mean loss/value?"),
        (["runs", "-o", "compare.pdf"], "'compare.pdf' must end with .html"),
        (["runs", "-o", "nowhere/compare.html"], "the folder nowhere does not exist"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(
    runs: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["runs", "compare", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not Path("compare.html").exists()


def test_too_many_runs_are_refused(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(14):
        make_run(runs, f"more-{number}")
    assert cli.main(["runs", "compare", "runs"]) == 2
    assert "17 runs cannot be compared at once; give at most 16" in capsys.readouterr().err


def test_a_damaged_run_does_not_end_a_comparison(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (runs / "gamma" / "config.toml").write_text("garbage")
    (runs / "seed-1" / "metrics.jsonl").write_text("garbage\n")
    assert cli.main(["runs", "compare", "runs"]) == 0
    assert re.search(r"learn.gamma\W+\?\W+0.97", capsys.readouterr().out)
