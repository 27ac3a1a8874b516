"""Policies by name: a path, a run below runs, or a level whose policy comes with Warpzone."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny import tiny

import warpzone
from warpzone import cli
from warpzone.errors import CheckpointError, RunError
from warpzone.evaluation.targets import Target, default_policies, find_target
from warpzone.search.solution import INCLUDED, find_solutions, included_solution, solutions_folder
from warpzone.system.included import included_folder
from warpzone.training import session


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, as far from the repository as a user's."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_path_stays_a_path(empty: Path) -> None:
    (empty / "some").mkdir()
    assert find_target(Path("some")) == Target(Path("some"))
    assert find_target(Path("missing/run")) == Target(Path("missing/run"))


def test_a_level_means_the_policy_that_comes_with_warpzone(empty: Path) -> None:
    found = find_target(Path("1-1"))
    assert found.level == "1-1"
    assert found.path.parent == included_folder("policies").resolve()


def test_own_policies_come_before_those_of_warpzone(empty: Path) -> None:
    (empty / "policies").mkdir()
    source = find_target(Path("1-1")).path
    (empty / "policies" / "mine.policy").write_bytes(source.read_bytes())
    assert default_policies() == Path("policies")
    assert find_target(Path("1-1")).path == empty / "policies" / "mine.policy"


def test_a_level_without_a_policy_names_the_command_that_trains_one(empty: Path) -> None:
    folder = empty / "one"
    folder.mkdir()
    specialist = included_folder("policies") / "8-3.policy"
    (folder / specialist.name).write_bytes(specialist.read_bytes())
    with pytest.raises(CheckpointError, match="warpzone train --level 8-4"):
        find_target(Path("8-4"), folder)


def test_a_name_that_nothing_has_is_refused(empty: Path) -> None:
    with pytest.raises(RunError, match="luigi is not a file, a run below runs, or a level"):
        find_target(Path("luigi"))


def test_commands_accept_the_name_of_a_run(
    empty: Path, rom_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, _ = session.start(tiny("runs", name="luigi"), "quiet")
    assert find_target(Path("luigi")) == Target(Path("runs/luigi"))
    assert cli.main(["runs", "show", "luigi"]) == 0
    assert cli.main(["eval", "luigi", "--episodes", "1"]) == 0
    assert (run.path / "evaluation.json").is_file()
    assert cli.main(["export", "luigi", "-o", "luigi.policy"]) == 0
    assert cli.main(["runs", "show", "peach"]) == 2
    assert "no run below runs has this name" in capsys.readouterr().err


def test_evaluating_a_level_writes_into_the_working_folder(
    empty: Path, rom_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["eval", "1-1", "--episodes", "2"]) == 0
    assert "| 1-1 |" in capsys.readouterr().out
    assert sorted(path.name for path in empty.iterdir()) == [
        "evaluation-1-1.json",
        "evaluation-1-1.md",
    ]


def test_python_loads_a_policy_by_level(empty: Path, rom_path: Path) -> None:
    assert "1-1" in warpzone.load_policy("1-1").levels


def test_solutions_of_all_levels_come_with_warpzone(empty: Path) -> None:
    assert len(find_solutions(solutions_folder(INCLUDED))) == 32
    assert included_solution(Path("8-4.solution")) == included_folder("solutions") / "8-4.solution"
    (empty / "8-4.solution").touch()
    assert included_solution(Path("8-4.solution")) == Path("8-4.solution")


def test_included_files_stay_small() -> None:
    files = [
        file
        for folder in (included_folder("policies"), included_folder("solutions"))
        for file in folder.iterdir()
        if file.suffix not in (".png", ".md", ".jsonl")
    ]
    assert sum(file.stat().st_size for file in files) < 10_000_000
