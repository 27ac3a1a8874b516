"""Every flag in the documentation and in messages exists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from warpzone import cli
from warpzone.commands.command import Command, Group, inherited_options, own_options

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("README*.md"), *(ROOT / "docs").rglob("*.md")]
MESSAGES = [
    *(ROOT / "src" / "warpzone" / "training").rglob("*.py"),
    *(ROOT / "src" / "warpzone" / "runs").rglob("*.py"),
]


def leaves(commands: Mapping[str, type[Command] | Group]) -> Iterator[type[Command]]:
    for command in commands.values():
        if isinstance(command, Group):
            yield from leaves(command.commands)
            if command.default is not None:
                yield command.default
        else:
            yield command


# Of scripts in benchmarks/, and of torchrun.
OTHERS = {
    *("write", "actor", "learner", "actors-per-node"),
    *("nnodes", "nproc-per-node", "rdzv-backend", "rdzv-endpoint", "standalone"),
    *(
        "cores",
        "shm-size",
        "logdir",
        "gpu-builds",
        "only",
        "wheels",
        "phases",
        "seconds",
        "minutes",
        "puffer",
    ),
}
KNOWN = {"help", "help-all", "version", *OTHERS} | {
    prefix + option.flag
    for command in leaves(cli.COMMANDS)
    for option in (*own_options(command), *inherited_options(command))
    for prefix in ("", "no-")
}


@pytest.mark.parametrize("page", [*PAGES, *MESSAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_every_named_flag_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w-])--([a-z][a-z0-9-]+)", text))
    assert named <= KNOWN
