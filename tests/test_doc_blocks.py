"""Every Python and shell block of the README, the docs and the notebooks runs as pasted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from doc_blocks import PAGES, ROOT, Block, blocks_of, parsed_commands

from warpzone import cli
from warpzone.errors import WarpzoneError

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def run_blocks(blocks: list[Block], folder: Path) -> None:
    """Runs the blocks of a page in their order; Python blocks share their variables."""
    names: dict[str, Any] = {"__name__": "__main__"}
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for name in {name for block in blocks for name in block.folders}:
        shutil.copytree(ROOT / name, folder / name)
    for block in blocks:
        if block.language == "python":
            exec(compile(block.code, str(block), "exec"), names)
            continue
        done = subprocess.run(
            ["bash", "-e", "-c", block.code],
            cwd=folder,
            env=os.environ | {"PATH": programs},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{block}:\n{done.stdout}{done.stderr}"


def fast(page: Path) -> list[Block]:
    """Blocks that take seconds; translated pages repeat them, so those run with the slow ones."""
    translated = page.parent.name == "zh" or "zh-CN" in page.name
    return [] if translated else [block for block in blocks_of(page) if not block.slow]


@pytest.mark.parametrize("page", list(filter(fast, PAGES)), ids=lambda page: page.name)
def test_the_blocks_of_a_page_run_as_pasted(
    page: Path, rom_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_blocks(fast(page), tmp_path)


@pytest.mark.parametrize(
    "page", list(filter(parsed_commands, PAGES)), ids=lambda page: f"{page.parent.name}-{page.name}"
)
def test_commands_that_are_not_run_have_the_right_form(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    parse = cli.parse_command
    parsed = []

    class Parsed:
        """Does nothing in place of a command."""

        def run(self) -> int:
            return 0

    def note(*arguments: Any) -> Parsed:
        parsed.append(parse(*arguments))
        return Parsed()

    monkeypatch.setattr(cli, "parse_command", note)
    commands = parsed_commands(page)
    for command in commands:
        assert cli.main(command) == 0, (command, capsys.readouterr().err)
    assert len(parsed) == len(commands)


def test_the_form_of_a_command_is_checked_beyond_its_flags() -> None:
    assert parsed_commands(ROOT / "docs" / "training.md")
    for wrong in (["train", "--level", "9-9"], ["runs", "compare"], ["runs", "lst"]):
        with pytest.raises(WarpzoneError):
            cli._dispatch(wrong)


SLOW = [page for page in PAGES if len(fast(page)) < len(blocks_of(page))]


@pytest.mark.slow
@pytest.mark.parametrize("page", SLOW, ids=lambda page: f"{page.parent.name}-{page.name}")
def test_all_blocks_of_a_page_run_as_pasted(
    page: Path, rom_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_blocks(blocks_of(page), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_cells_of_a_notebook_run(
    notebook: Path, rom_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), str(notebook), "exec"), names)


def test_there_are_two_notebooks() -> None:
    assert len(NOTEBOOKS) == 2
