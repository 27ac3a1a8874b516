"""`warpzone quickstart`: the steps of `make demo`, for people without the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from warpzone import cli
from warpzone.commands.evaluate import Evaluate
from warpzone.commands.train import Train
from warpzone.commands.video import Video

SMALL = {
    "ENV_NUM_ENVS": "4",
    "ENV_NUM_THREADS": "1",
    "MODEL_HIDDEN": "16",
    "LEARN_ROLLOUT_STEPS": "8",
    "LEARN_MINIBATCH_SIZE": "16",
    "RUN_STEPS": "64",
    "RUN_TORCH_THREADS": "1",
}


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder in which training takes two updates."""
    monkeypatch.chdir(tmp_path)
    for name, value in SMALL.items():
        monkeypatch.setenv(f"WARPZONE_TRAIN_{name}", value)
    return tmp_path


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The commands that a quickstart runs, in order; they do nothing."""
    run: list[Any] = []
    for command in (Train, Evaluate, Video):
        monkeypatch.setattr(command, "run", lambda self: run.append(self) or 0)
    return run


def test_quickstart_trains_evaluates_records_and_names_three_next_commands(
    small: Path, rom_path: Path, steps: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["quickstart", "--yes"]) == 0
    train, evaluate, video = steps
    assert train.preset == "cpu-quick"
    assert train.training == {
        "env": {"level": "1-1"},
        "run": {"runs": "runs", "name": "mario-1-1"},
    }
    assert (evaluate.run_path, evaluate.episodes) == (Path("runs/mario-1-1"), 100)
    assert video.output == Path("runs/mario-1-1.mp4")
    last = capsys.readouterr().out.splitlines()[-4:]
    assert last[0] == f"The video is {video.output}. Next steps:"
    assert [line.split()[0] for line in last[1:]] == ["warpzone"] * 3


def test_an_interrupted_quickstart_resumes_its_run(
    small: Path, rom_path: Path, steps: list[Any]
) -> None:
    (small / "runs" / "mario-1-1").mkdir(parents=True)
    assert cli.main(["quickstart"]) == 0
    assert steps[0].resume == str(Path("runs/mario-1-1"))


def test_a_step_that_fails_ends_the_quickstart(
    small: Path, rom_path: Path, steps: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Evaluate, "run", lambda _: 3)
    assert cli.main(["quickstart"]) == 3
    assert len(steps) == 1


@pytest.mark.slow
def test_quickstart_leaves_a_run_an_evaluation_and_a_video(small: Path, rom_path: Path) -> None:
    assert cli.main(["quickstart", "--yes", "--episodes", "2"]) == 0
    assert (small / "runs" / "mario-1-1" / "evaluation.json").is_file()
    assert (small / "runs" / "mario-1-1.mp4").stat().st_size > 0


def test_quickstart_does_not_download_without_consent(
    small: Path, data_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["quickstart"]) == 2
    assert "warpzone rom install --accept" in capsys.readouterr().err
    assert not (small / "runs").exists()


def test_make_demo_is_quickstart() -> None:
    makefile = (Path(__file__).parents[2] / "Makefile").read_text()
    recipe = makefile.partition("\ndemo:")[2].partition("\n\n")[0]
    assert "warpzone quickstart --yes --runs demo" in recipe
