"""The table of folders in ARCHITECTURE.md is what the code really imports."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "warpzone"
TORCH = "torch"


def documented_imports() -> dict[str, set[str]]:
    """For each Python folder of the table, what its last column lists."""
    table: dict[str, set[str]] = {}
    for line in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines():
        row = re.fullmatch(r"\| `src/warpzone/(\w+)(?:\.py)?` \|.*\| (.*) \|", line)
        if row is not None:
            names = set(re.findall(r"`(\w+)`", row[2]))
            allows_torch = row[2].endswith("; torch")
            table[row[1]] = names | ({TORCH} if allows_torch else set())
    return table


def imported_modules(path: Path) -> set[str]:
    """Full names of everything that a file imports, anywhere in it."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "warpzone":
            modules.update(f"warpzone.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            modules.add(node.module)
    return modules


def actual_imports(folder: str) -> set[str]:
    """Our own folders, and torch, that a folder or a single file imports."""
    place = SOURCE / folder
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    found: set[str] = set()
    for path in files:
        for module in imported_modules(path):
            first, _, rest = module.partition(".")
            if first == TORCH:
                found.add(TORCH)
            elif first == "warpzone":
                found.add(rest.partition(".")[0])
    # The package itself exports functions and its version, which are not folders.
    return (found & {*TABLE, TORCH, "_native"}) - {folder}


TABLE = documented_imports()


def test_every_folder_has_a_row() -> None:
    entry_points = {"__init__", "__main__"}
    parts = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py"} - entry_points
    folders = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert parts | folders == TABLE.keys()


@pytest.mark.parametrize("folder", sorted(TABLE))
def test_a_folder_imports_exactly_what_its_row_lists(folder: str) -> None:
    assert actual_imports(folder) == TABLE[folder]


def test_there_are_no_cycles_between_folders() -> None:
    waiting = {folder: imports & TABLE.keys() for folder, imports in TABLE.items()}
    while waiting:
        ready = {folder for folder, imports in waiting.items() if not imports & waiting.keys()}
        assert ready, f"these import each other: {sorted(waiting)}"
        for folder in ready:
            del waiting[folder]


@pytest.mark.parametrize("folder", ["evaluation", "video", "report", "campaign"])
def test_whoever_reads_runs_does_not_know_the_trainer(folder: str) -> None:
    assert "training" not in TABLE[folder]
