"""Every command, with every hostile file or value of the table: one sentence, nothing half done."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from cases import CASES, Case
from outcome import assert_sane, leaf_commands, run

ROWS = [(command, case) for command, cases in CASES.items() for case in cases]


@pytest.mark.parametrize(
    ("command", "case"), ROWS, ids=[f"{command}: {case.name!a}" for command, case in ROWS]
)
def test_a_hostile_input_is_one_sentence(
    command: str,
    case: Case,
    pristine_world: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = tmp_path / "world"
    shutil.copytree(pristine_world, world)
    case.damage(world)
    monkeypatch.chdir(world)
    for name, value in case.variables.items():
        monkeypatch.setenv(name, value)
    outcome = run(*command.split(), *case.arguments)
    assert_sane(outcome, world)
    assert outcome.code in case.codes, outcome


def test_every_command_has_cases() -> None:
    missing = [
        name
        for name in leaf_commands()
        if not any(command == name or command.startswith(name + " ") for command in CASES)
    ]
    assert missing == [], "add rows to tests/hostile/cases.py"
