"""A real sweep of the smallest runs, killed without warning and resumed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from small_sweep import FLAGS

from warpzone import cli
from warpzone.runs.checkpoint import load, read_meta
from warpzone.runs.checkpoint_store import find_latest
from warpzone.sweep.files import SweepFolder, read_plan
from warpzone.sweep.overview import read_overview
from warpzone.sweep.study import open_study

PROGRAM = "import sys; from warpzone.cli import main; sys.exit(main())"
STEPS = 256


def words(folder: Path, trials: int) -> list[str]:
    asked = ["--level=1-1", f"--trials={trials}", "--jobs=2", f"--steps={STEPS}"]
    space = ["--space=learning-rate=1e-4:1e-3:log", "--space=epochs=1:2"]
    rest = ["--objective=clear-rate", "--no-cost-pruning", "--checkpoint-minutes=0.001"]
    return ["sweep", *asked, *space, *rest, *FLAGS, "-o", str(folder)]


def kill_after_starts(arguments: list[str], starts: int, seconds: float = 0.0) -> None:
    """Starts a sweep and kills it some time after it has started some trials."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    ) as program:
        assert program.stdout is not None
        seen = 0
        for line in program.stdout:
            seen += "starts:" in line or "continues:" in line
            if seen >= starts:
                time.sleep(seconds)
                program.send_signal(signal.SIGKILL)
                break
        assert program.wait() == -signal.SIGKILL, "it ended before it was killed"


def assert_every_trial_ran_once(folder: Path, trials: int) -> None:
    study = open_study(SweepFolder(folder), read_plan(folder))
    found = study.trials()
    assert [trial.number for trial in found] == list(range(trials))
    assert {trial.state.name for trial in found} == {"COMPLETE"}
    names = sorted(path.name for path in (folder / "runs").iterdir())
    assert names == [f"trial-{number:04d}-0" for number in range(trials)]
    for trial in found:
        latest = find_latest(folder / "runs" / f"trial-{trial.number:04d}-0")
        assert latest is not None
        meta = read_meta(latest)
        assert meta.steps == STEPS
        assert meta.config["learn"]["learning_rate"] == trial.params["learning-rate"]


def test_a_killed_sweep_resumes_and_runs_every_trial_once(tmp_path: Path, rom_path: Path) -> None:
    folder = tmp_path / "sweep"
    kill_after_starts(words(folder, 3), starts=2)
    assert cli.main(["sweep", "--resume", str(folder)]) == 0
    assert_every_trial_ran_once(folder, 3)
    journal = (folder / "journal.log").read_bytes()
    assert cli.main(["sweep", "--resume", str(folder)]) == 0
    assert (folder / "journal.log").read_bytes() == journal, "nothing was left to do"
    assert_the_best_configuration_is_reproducible(folder, tmp_path)


def assert_the_best_configuration_is_reproducible(folder: Path, scratch: Path) -> None:
    """Trains with the configuration that the report prints; the weights must be the trial's."""
    overview = read_overview(folder)
    best = overview.best[0]
    file = scratch / "best.toml"
    file.write_text(overview.toml(best))
    place = [f"--runs={scratch / 'runs'}", "--name=again", "--display=quiet"]
    preset = f"--preset={overview.plan.preset}"
    assert cli.main(["train", preset, f"--file={file}", *place]) == 0
    pair = [find_latest(folder / "runs" / f"trial-{best.number:04d}-0")]
    pair.append(find_latest(scratch / "runs" / "again"))
    models = [load(path).state["model"] for path in pair if path is not None]
    assert len(models) == 2
    for name, weights in models[0].items():
        assert torch.equal(weights, models[1][name]), name


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_forty_trials_survive_five_kills(tmp_path: Path, rom_path: Path) -> None:
    folder = tmp_path / "sweep"
    kill_after_starts(words(folder, 40), starts=4, seconds=1.0)
    for kill in range(4):
        kill_after_starts(["sweep", "--resume", str(folder)], starts=5 + kill, seconds=0.7 * kill)
    assert cli.main(["sweep", "--resume", str(folder)]) == 0
    assert_every_trial_ran_once(folder, 40)
    assert_the_best_configuration_is_reproducible(folder, tmp_path)
