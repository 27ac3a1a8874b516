"""The examples run as they are, for a few steps."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
EXPECTED = {
    "own_network": "own-network: finished, ",
    "own_reward": "own-reward: finished, ",
    "own_algorithm": "own-algorithm: finished, ",
    "own_wrapper": "own-wrapper: finished, ",
    "sb3": "trained for ",
    "cleanrl_ppo": "clear rate ",
    "search_from_python": "no solution found (",
}


def test_every_example_is_run() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_an_example_runs(rom_path: Path, tmp_path: Path, name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", EXAMPLES / f"{name}.py", "--steps", "2000"],
        cwd=tmp_path,
        env=os.environ | {"WARPZONE_ROM": str(rom_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert EXPECTED[name] in done.stdout, done.stdout
    if name.startswith("own_"):
        assert "1-1: 0 of 20 episodes clear" in done.stdout
