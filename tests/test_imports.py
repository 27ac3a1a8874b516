"""Which part may import which: the rules of ARCHITECTURE.md."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "warpzone"


def imported_modules(path: Path) -> set[str]:
    """Full names of everything that a file imports, anywhere in it."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            modules.add(node.module)
            modules.update(f"{node.module}.{alias.name}" for alias in node.names)
    return modules


def offences(folder: str, forbidden: tuple[str, ...]) -> list[str]:
    """Files of a folder that import what they must not."""
    return [
        f"{path.relative_to(SOURCE)} imports {module}"
        for path in sorted((SOURCE / folder).rglob("*.py"))
        for module in sorted(imported_modules(path))
        if any(module == name or module.startswith(name + ".") for name in forbidden)
    ]


@pytest.mark.parametrize(
    ("folder", "forbidden"),
    [
        (
            "envs",
            (
                "torch",
                "warpzone.envs.vectors",
                "warpzone.evaluate",
                "warpzone.tools",
                "warpzone.commands",
            ),
        ),
        ("backends", ("torch", "warpzone.envs.vectors", "warpzone.envs.single", "warpzone.train")),
        ("vectors", ("torch", "warpzone.train", "warpzone.doctor", "warpzone.tools")),
        ("doctor", ("warpzone.commands", "warpzone.train")),
        ("models", ("warpzone.envs", "warpzone._native", "warpzone.train", "warpzone.telemetry")),
        ("learning", ("warpzone.envs", "warpzone._native", "warpzone.train", "warpzone.telemetry")),
        ("rollout", ("warpzone.envs", "warpzone._native", "warpzone.train", "warpzone.telemetry")),
        (
            "replay",
            ("warpzone.envs", "warpzone.train", "warpzone.telemetry", "warpzone.algorithms"),
        ),
        (
            "telemetry",
            ("torch", "warpzone.train", "warpzone.rollout", "warpzone.algorithms", "warpzone.envs"),
        ),
        ("search", ("torch", "warpzone.evaluate", "warpzone.tools", "warpzone.commands")),
        (
            "train",
            (
                "warpzone.evaluate",
                "warpzone.campaign",
                "warpzone.report",
                "warpzone.commands",
                "warpzone.tools",
            ),
        ),
        (
            "evaluate",
            ("warpzone.campaign", "warpzone.report", "warpzone.commands", "warpzone.tools"),
        ),
        ("campaign", ("warpzone.report", "warpzone.commands", "warpzone.tools")),
        ("report", ("warpzone.commands", "warpzone.tools")),
        ("tools", ("warpzone.commands",)),
    ],
)
def test_folders_import_only_what_they_may(folder: str, forbidden: tuple[str, ...]) -> None:
    assert list((SOURCE / folder).rglob("*.py")), f"{folder} has no files"
    assert offences(folder, forbidden) == []


def test_the_rule_checker_sees_an_offence() -> None:
    assert offences("envs", ("numpy",)) != []
