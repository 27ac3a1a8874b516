"""Results of an evaluation are never lost: checked before, printed first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small_disk import fill, small_disk

from warpzone import cli
from warpzone.evaluation import result_files, run_evaluation
from warpzone.evaluation.evaluation import Episode, Evaluation

EPISODE = Episode(
    "1-1",
    0,
    end="clear",
    x=3100,
    progress=3000,
    steps=300,
    levels_cleared=1,
    deaths=0,
    episode_return=1.0,
)


class Trained:
    """A policy that needs no game."""

    class config:  # noqa: N801 - as the attribute of a trained policy
        class env:  # noqa: N801
            held_out, game = "", "smb"

    wrap = None

    def player(self, *_: object) -> None:
        return None

    def env_options(self) -> dict[str, Any]:
        return {}


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The levels that were played, without a game."""
    levels: list[str] = []

    def play(policy: object, level: str, **_: object) -> Evaluation:
        levels.append(level)
        return Evaluation(level, (EPISODE,))

    monkeypatch.setattr(run_evaluation, "_tasks", lambda *_: iter([(Trained, ["1-1", "1-2"])]))
    monkeypatch.setattr(run_evaluation, "evaluate", play)
    return levels


@pytest.mark.parametrize("output", ["missing/results", "folder/../no/results", "", "\0"])
def test_an_output_that_cannot_be_written_is_known_before_anything_is_played(
    tmp_path: Path,
    played: list[str],
    output: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["eval", existing(tmp_path), "-o", output]) == 2
    assert played == []
    assert capsys.readouterr().err.startswith("error: ")


def existing(folder: Path) -> str:
    """A file in place of a policy, which is never read."""
    path = folder / "x.policy"
    path.touch()
    return str(path)


def test_a_full_disk_is_known_before_anything_is_played(
    tmp_path: Path, played: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with small_disk(tmp_path) as place:
        fill(place)
        assert cli.main(["eval", existing(tmp_path), "-o", str(place / "results")]) == 2
        assert played == []
        assert "No space left on device" in capsys.readouterr().err


def test_a_disk_that_fills_up_meanwhile_costs_no_result(
    tmp_path: Path,
    played: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refuse(path: Path, text: str) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(result_files, "write_text_atomically", refuse)
    target = existing(tmp_path)
    assert cli.main(["eval", target, "--episodes", "1", "-o", str(tmp_path / "a")]) == 2
    shown = capsys.readouterr()
    assert "| 1-2 | 100% |" in shown.out
    assert "1-1: 1 of 1 episodes clear\n1-2: 1 of 1 episodes clear\n" in shown.err
    assert shown.err.splitlines()[-1].startswith(f"error: {tmp_path / 'a.json'}: No space left")


def test_a_dot_in_the_name_belongs_to_it(tmp_path: Path, played: list[str]) -> None:
    target, output = existing(tmp_path), tmp_path / "out"
    output.mkdir()
    assert cli.main(["eval", target, "--episodes", "1", "-o", str(output / "v1.2")]) == 0
    assert sorted(path.name for path in output.iterdir()) == ["v1.2.json", "v1.2.md"]
