from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import places
import pytest
import run_matrix
from built_wheels import copy_wheel
from matrix_results import passed_cells, printed_table, read_results, record_result
from native_builds import BUILDS, NativeBuild, run_tests
from package_sets import lower_bounds, oldest, requirements, torch_candidates
from places import DebianPython, LocalPython, ObstacleError
from run_cell import CellSpec


def test_the_oldest_set_installs_the_lower_bounds_of_the_project() -> None:
    bounds = lower_bounds()
    plain, torch_users = requirements("3.11", "oldest")
    assert f"numpy=={bounds['numpy']}" in plain
    assert f"gymnasium=={bounds['gymnasium']}" in plain
    assert f"stable-baselines3=={bounds['stable-baselines3']}" in torch_users
    assert not [line for line in plain + torch_users if line.startswith("torch=")]


def test_newer_pythons_start_at_the_first_release_with_wheels() -> None:
    assert oldest("3.13")["numpy"] == "2.1.0"
    assert oldest("3.13")["gymnasium"] == lower_bounds()["gymnasium"]


def test_gpu_builds_of_torch_are_only_candidates_on_request() -> None:
    assert all("+cpu" in line for line in torch_candidates("3.12", "oldest", False))
    bound = lower_bounds()["torch"]
    assert f"torch=={bound}" in torch_candidates("3.12", "oldest", True)


@pytest.mark.parametrize(
    ("found", "note"),
    [
        ("2.4.0+cpu", ""),
        ("2.4.0", "torch with GPU libraries, which are not used"),
        ("2.13.0+cpu", "no CPU build of torch 2.4 here; ran with 2.13.0+cpu"),
        ("2.40.0+cpu", "no CPU build of torch 2.4 here; ran with 2.40.0+cpu"),
    ],
)
def test_a_row_says_which_torch_it_had_instead(found: str, note: str) -> None:
    assert run_matrix.torch_note(LocalPython("3.12"), "2.4", found) == note


def test_a_row_says_when_pip_replaced_the_torch_of_debian() -> None:
    trixie = DebianPython("trixie", "3.13")
    assert run_matrix.torch_note(trixie, "2.13.0", "2.14.1+debian") == ""
    assert "pip installed 2.15.0" in run_matrix.torch_note(trixie, "2.13.0", "2.15.0")


@pytest.mark.parametrize(
    ("printed", "passed"),
    [
        ("100% tests passed out of 31", "31 of 31"),
        ("100% tests passed, 0 tests failed out of 31", "31 of 31"),
        ("94% tests passed, 2 tests failed out of 31", "29 of 31"),
    ],
)
def test_every_summary_of_ctest_is_read(
    printed: str, passed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*command: str | Path, rom: str) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 0, printed, "")

    monkeypatch.setattr("native_builds._run", run)
    assert run_tests(BUILDS[0], tmp_path, Path("game.nes")) == passed


def test_a_missing_interpreter_gives_a_row_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_matrix, "find_rom", lambda: tmp_path / "game.nes")
    monkeypatch.setattr(run_matrix, "WORK", tmp_path)
    row = run_matrix.python_cell(LocalPython("3.99"), "newest", tmp_path, False)
    assert row["reason"] == "this machine has no Python 3.99"
    assert not run_matrix.failed(row), "an obstacle is not a failure"


def test_a_debian_release_needs_debootstrap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places.shutil, "which", lambda _: None)
    with pytest.raises(ObstacleError, match="needs root and debootstrap"):
        DebianPython("trixie", "3.13").command(tmp_path, tmp_path / "game.nes")


def test_a_failing_smoke_test_fails_its_cell(tmp_path: Path) -> None:
    result = {"python": "3.11.7", "reason": "", "tests": {"environment": "pass", "train": "boom"}}
    command = [sys.executable, "-c", f"print({json.dumps(result)!r})"]
    spec = CellSpec("source", "builds", str(tmp_path / "cell"), "game.nes", "constraints.txt", ())
    row = run_matrix.run_cell("cell", command, spec)
    assert row["failed"]
    assert row["train"] == "fail"
    assert row["reason"] == "train: boom"


def test_each_result_is_written_and_keeps_the_others(tmp_path: Path) -> None:
    path, lock = tmp_path / "results.json", tmp_path / "lock"
    not_run = {"a": {"reason": "not run yet"}, "b": {"reason": "not run yet"}}
    record_result("a", {"reason": "old"}, not_run, lock, path)
    assert read_results(path) == {"a": {"reason": "old"}, "b": {"reason": "not run yet"}}
    record_result("b", {"reason": ""}, not_run, lock, path)
    assert read_results(path) == {"a": {"reason": "old"}, "b": {"reason": ""}}


def test_an_interrupted_matrix_has_written_the_cells_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def native_cell(build: NativeBuild) -> dict[str, object]:
        if build == BUILDS[2]:
            raise KeyboardInterrupt
        return {"kind": "native", "build": build.name, "tests": "2 of 2"}

    written: list[str] = []
    monkeypatch.setattr(run_matrix, "WORK", tmp_path)
    monkeypatch.setattr(run_matrix, "native_cell", native_cell)
    monkeypatch.setattr(run_matrix, "record_result", lambda name, *_: written.append(name))
    choice = run_matrix.Choice(frozenset(build.key for build in BUILDS[:3]))
    with pytest.raises(KeyboardInterrupt):
        run_matrix.run_and_record(choice, 1)
    assert written == [build.key for build in BUILDS[:2]]


def test_resuming_runs_all_but_the_cells_that_passed_with_this_commit() -> None:
    ran = {"commit": "new", "failed": False}
    rows = {
        "python": ran | {"environment": "pass"},
        "native": ran | {"tests": "29 of 29"},
        "older": ran | {"tests": "29 of 29", "commit": "old"},
        "failing": ran | {"environment": "fail", "failed": True},
        "obstacle": ran | {"reason": "this machine has no Python 3.99"},
    }
    assert passed_cells(rows, "new") == {"python", "native"}


def made_up_wheel(folder: Path, tag: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    wheel = folder / f"warpzone-0.1.0-{tag}-{tag}-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("warpzone/module.py", text)
        archive.writestr("warpzone/_native.so", "machine code")
    return wheel


def test_a_wheel_of_the_same_source_is_used_for_its_python(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "src" / "warpzone").mkdir(parents=True)
    (source / "src" / "warpzone" / "module.py").write_text("VALUE = 1\n")
    wheels = tmp_path / "dist"
    wheel = made_up_wheel(wheels, "cp312", "VALUE = 1\n")
    assert copy_wheel(wheels, "3.12", source, tmp_path / "made")
    assert (tmp_path / "made" / wheel.name).read_bytes() == wheel.read_bytes()
    assert not copy_wheel(wheels, "3.13", source, tmp_path / "other")
    made_up_wheel(wheels, "cp313", "VALUE = 2\n")
    with pytest.raises(SystemExit, match="of another commit: warpzone/module"):
        copy_wheel(wheels, "3.13", source, tmp_path / "other")


def test_a_cell_that_never_ran_says_so() -> None:
    rows = run_matrix.rows_to_run()
    assert rows["python-3.14-oldest"]["reason"] == "not run yet"
    assert "debian-trixie-newest" in rows
    assert "native-gcc-arm64" in rows


def test_the_table_prints_a_reason_below_its_row() -> None:
    rows = [{"build": "GCC", "tests": "2 of 2"}, {"build": "Clang", "reason": "no clang++ here"}]
    assert printed_table(rows, ("build", "tests")).splitlines() == [
        "build  tests",
        "GCC    2 of 2",
        "Clang",
        "    no clang++ here",
    ]
