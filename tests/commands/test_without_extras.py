"""A plain install, without extras: every command works or says in one sentence what to install."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from outcome_lines import assert_one_sentence

from warpzone import cli
from warpzone.errors import MissingExtraError
from warpzone.system.extras import EXTRAS, extra_of, missing_module, require_extra

ROOT = Path(__file__).parents[2]

# What a person would give; commands that would serve or measure for long get less to do.
COMMANDS: dict[str, tuple[str, ...]] = {
    "quickstart": (),
    "rom install": (),
    "rom import": ("missing.nes",),
    "rom status": (),
    "train": ("--level", "1-1"),
    "eval": ("1-1",),
    "video": ("1-1",),
    "runs list": (),
    "runs show": ("mario-1-1",),
    "runs set": ("mario-1-1", "learning_rate=1e-4"),
    "runs pause": ("mario-1-1",),
    "runs resume": ("mario-1-1",),
    "runs save": ("mario-1-1",),
    "runs record": ("mario-1-1",),
    "runs stop": ("mario-1-1",),
    "dashboard": (),
    "watch": ("1-1",),
    "campaign": (),
    "export": ("mario-1-1", "-o", "out.policy"),
    "scoreboard": ("policies",),
    "report": ("runs",),
    "solve": ("--level", "1-1", "--seconds", "0.1"),
    "render": ("--steps", "4", "-o", "out.png"),
    "play": (),
    "bench env": ("--seconds", "0.01", "--num-envs", "1", "--threads", "1"),
    "bench train": (),
    "bench overlap": (),
    "bench replay": (),
    "tools backfill": ("runs",),
    "doctor": (),
}
WORK = {"rom status", "render", "solve", "doctor"}
"""Commands that need no extra."""

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
results = {}
for command, arguments in json.loads(sys.argv[2]).items():
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([*command.split(), *arguments])
        except BaseException:
            code, _ = -1, err.write(traceback.format_exc())
    results[command] = code, out.getvalue(), err.getvalue()
print(json.dumps(results))
"""


@pytest.fixture(scope="module")
def results(
    tmp_path_factory: pytest.TempPathFactory, rom_path: Path
) -> dict[str, tuple[int, str, str]]:
    """Exit code, output and error output of each command, in an empty folder without extras."""
    blocked = [module for modules in EXTRAS.values() for module in modules]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(blocked), json.dumps(COMMANDS)],
        cwd=tmp_path_factory.mktemp("plain"),
        env=os.environ | {"WARPZONE_ROM": str(rom_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {name: tuple(result) for name, result in json.loads(done.stdout).items()}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_without_extras_works_or_says_what_to_install(
    command: str, results: dict[str, tuple[int, str, str]]
) -> None:
    code, _, err = results[command]
    assert_one_sentence(code, err)
    if command in WORK:
        assert code in (0, 1), err


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("train", "train"),
        ("eval", "train"),
        ("video", "train"),
        ("campaign", "train"),
        ("export", "train"),
        ("quickstart", "train"),
        ("bench train", "train"),
        ("watch", "dashboard"),
        ("dashboard", "dashboard"),
    ],
)
def test_the_sentence_gives_the_command_that_installs_the_extra(
    command: str, extra: str, results: dict[str, tuple[int, str, str]]
) -> None:
    code, _, err = results[command]
    assert code == 2
    assert f'run `pip install "warpzone[{extra}]"`' in err


def test_every_command_is_tried() -> None:
    assert set(COMMANDS) == set(_leaves(cli.COMMANDS))


def test_extras_are_those_of_the_package() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    users = {name for name in declared["optional-dependencies"] if name not in ("dev", "docs")}
    assert set(EXTRAS) == users


def test_a_module_of_nobody_is_not_explained_away() -> None:
    assert extra_of("torch.nn") == "train"
    assert missing_module("warpzone.no_such_module") is None
    assert missing_module(None) is None


def test_requiring_an_extra_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTRAS, "play", ("no_such_module_anywhere",))
    with pytest.raises(MissingExtraError, match=r'pip install "warpzone\[play\]"'):
        require_extra("play")


def _leaves(commands: object, prefix: str = "") -> list[str]:
    assert isinstance(commands, dict)
    return [
        leaf
        for name, command in commands.items()
        for leaf in (
            _leaves(command.commands, f"{prefix}{name} ")
            if hasattr(command, "commands")
            else [prefix + name]
        )
    ]
