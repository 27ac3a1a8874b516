"""Every command with what a person would give, for installs without extras."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

# What a person would give; a command that is not listed is tried without arguments.
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "quickstart": (),
    "rom install": (),
    "rom import": ("missing.nes",),
    "rom status": (),
    "train": ("--level", "1-1"),
    "eval": ("1-1",),
    "video": ("1-1",),
    "runs list": (),
    "runs show": ("mario-1-1",),
    "runs compare": ("mario-1-1", "mario-1-1-2"),
    "runs set": ("mario-1-1", "learning_rate=1e-4"),
    "runs pause": ("mario-1-1",),
    "runs resume": ("mario-1-1",),
    "runs save": ("mario-1-1",),
    "runs record": ("mario-1-1",),
    "runs evaluate": ("mario-1-1",),
    "runs stop": ("mario-1-1",),
    "dashboard": (),
    "watch": ("1-1",),
    "cluster train": ("--level", "1-1"),
    "campaign": (),
    "sweep": ("--level", "1-1"),
    "sweep show": ("sweeps/mario-1-1",),
    "export": ("mario-1-1", "-o", "out.policy"),
    "scoreboard": ("policies",),
    "report": ("runs",),
    "solve": ("--level", "1-1", "--seconds", "0.1"),
    "render": ("--steps", "4", "-o", "out.png"),
    "play": (),
    "bench env": ("--seconds", "0.01", "--num-envs", "1", "--num-threads", "1"),
    "bench train": (),
    "bench overlap": (),
    "bench replay": (),
    "tools backfill": ("runs",),
    "doctor": (),
    "doctor env": ("--mode", "native", "--trials", "1"),
}
# Runs every command in one process, since starting Python takes longer than the commands do.
SCRIPT = """
import contextlib, importlib.abc, io, json, sys, traceback

class Blocker(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

BLOCKED = set(json.loads(sys.argv[1]))
sys.meta_path.insert(0, Blocker())
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: (
    None if name.partition(".")[0] in BLOCKED else found(name, package)
)
from warpzone.cli import main
from warpzone.cli import COMMANDS

def leaves(commands, prefix=""):
    for name, command in commands.items():
        inner = getattr(command, "commands", {})
        yield from leaves(inner, f"{prefix}{name} ")
        if not inner or command.default:
            yield prefix + name

given, results = json.loads(sys.argv[2]), {}
for command in leaves(COMMANDS):
    arguments = given.get(command, [])
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([*command.split(), *arguments])
        except BaseException:
            code, _ = -1, err.write(traceback.format_exc())
    results[command] = code, out.getvalue(), err.getvalue()
print(json.dumps(results))
"""


def run_commands(
    python: str | Path, folder: Path, rom: Path, blocked: list[str]
) -> dict[str, tuple[int, str, str]]:
    """Runs every command in an empty folder.

    Args:
        python: Interpreter with Warpzone installed.
        folder: Working folder.
        rom: ROM to use.
        blocked: Modules that cannot be imported, as if they were not installed.

    Returns:
        Exit code, output and error output by command.
    """
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [python, "-c", SCRIPT, json.dumps(blocked), json.dumps(ARGUMENTS)],
        cwd=folder,
        env=variables | {"WARPZONE_ROM": str(rom)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {name: tuple(result) for name, result in json.loads(done.stdout).items()}
