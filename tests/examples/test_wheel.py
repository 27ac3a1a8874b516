"""The built wheel, installed into a fresh virtual environment, runs every example."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from example_runs import EXAMPLES, PRINTED, check_example, run_in

ROOT = Path(__file__).parents[2]
CONSTRAINTS = ROOT / "constraints.txt"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `python` and `warpzone` of a virtual environment with the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip"]
    # The build tools of this environment, as `make setup` uses them.
    build = ["wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT)]
    subprocess.run([*pip, *build], check=True)
    (wheel,) = folder.glob("warpzone-*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    programs = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    install = ["-m", "pip", "install", "-c", str(CONSTRAINTS), f"{wheel}[train,sb3]"]
    subprocess.run([programs / "python", *install], check=True)
    return programs


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_runs_with_the_wheel(
    programs: Path, rom_path: Path, tmp_path: Path, name: str
) -> None:
    check_example(programs / "python", name, tmp_path, rom_path)


def test_commands_of_the_wheel_take_an_example_as_a_plugin(
    programs: Path, rom_path: Path, tmp_path: Path
) -> None:
    check_example(programs / "python", "own_network", tmp_path, rom_path)
    plugin = ("--plugin", EXAMPLES / "own_network.py")
    warpzone = programs / "warpzone"
    run_in(tmp_path, rom_path, warpzone, "export", "runs/own-network", "-o", "own.policy", *plugin)
    printed = run_in(tmp_path, rom_path, warpzone, "eval", "own.policy", "--episodes", "2", *plugin)
    assert "| 1-1 | 0% |" in printed
