"""Runs the examples as a user does: as scripts, in a folder of their own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
PRINTED = {
    "own_network": "own-network: finished, ",
    "own_reward": "own-reward: finished, ",
    "own_algorithm": "own-algorithm: finished, ",
    "own_wrapper": "own-wrapper: finished, ",
    "sb3": "trained for ",
    "cleanrl_ppo": "clear rate ",
    "search_from_python": "no solution found (",
}
"""What each example prints after a few steps."""


def run_in(folder: Path, rom: Path, *command: str | Path) -> str:
    """Runs a command in a folder and returns what it prints."""
    hidden = {"PYTHONPATH", "WARPZONE_ROM"}
    variables = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=variables | {"WARPZONE_ROM": str(rom)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def check_example(python: str | Path, name: str, folder: Path, rom: Path) -> None:
    """Runs an example for a few steps; a warning of ours fails it."""
    script = EXAMPLES / f"{name}.py"
    printed = run_in(folder, rom, python, "-W", "error::UserWarning", script, "--steps", "2000")
    assert PRINTED[name] in printed, printed
    if name.startswith("own_"):
        assert "1-1: 0 of 20 episodes clear" in printed, printed
