"""A plain install, without extras: every command works or says in one sentence what to install."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from outcome_lines import assert_one_sentence
from plain_commands import run_commands

from warpzone import cli
from warpzone.errors import MissingExtraError
from warpzone.system.extras import EXTRAS, extra_of, missing_module, require_extra

ROOT = Path(__file__).parents[2]

WORK = {"rom status", "render", "solve", "doctor"}
"""Commands that need no extra."""


def leaf_commands(commands: object, prefix: str = "") -> list[str]:
    """Every command that can be given, such as 'train' and 'rom import'."""
    assert isinstance(commands, dict)
    found = []
    for name, command in commands.items():
        inner = getattr(command, "commands", {})
        found += leaf_commands(inner, f"{prefix}{name} ")
        if not inner or command.default:
            found.append(prefix + name)
    return found


@pytest.fixture(scope="module")
def results(
    tmp_path_factory: pytest.TempPathFactory, rom_path: Path
) -> dict[str, tuple[int, str, str]]:
    """What each command does in an empty folder without extras."""
    blocked = [module for modules in EXTRAS.values() for module in modules]
    return run_commands(sys.executable, tmp_path_factory.mktemp("plain"), rom_path, blocked)


@pytest.mark.parametrize("command", leaf_commands(cli.COMMANDS))
def test_a_command_without_extras_works_or_says_what_to_install(
    command: str, results: dict[str, tuple[int, str, str]]
) -> None:
    code, _, err = results[command]
    assert_one_sentence(code, err)
    for complaint in ("--help`", "no option"):
        assert complaint not in err, "the test gives wrong arguments"
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
        ("sweep", "sweep"),
        ("play", "play"),
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


@pytest.mark.parametrize("call", ['train("1-1")', 'load_policy("1-1")', 'evaluate("1-1")'])
def test_a_function_without_extras_says_what_to_install(call: str) -> None:
    script = f"""
import sys
sys.modules["torch"] = None
import warpzone
try:
    warpzone.{call}
except warpzone.errors.MissingExtraError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    expected = 'torch is not installed; run `pip install "warpzone[train]"`\n'
    assert (done.stdout, done.returncode) == (expected, 0), done.stderr


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
