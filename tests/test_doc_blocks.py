"""Every Python and shell block of the README, the docs and the notebooks runs as pasted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from doc_blocks import (
    PAGES,
    ROOT,
    RUN_LANGUAGES,
    SHOWN_LANGUAGES,
    Block,
    all_blocks,
    blocks_of,
    parsed_commands,
)
from doc_runs import run_blocks

from warpzone import cli
from warpzone.errors import WarpzoneError

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def fast(page: Path) -> list[Block]:
    """Blocks that take seconds; translated pages repeat them, so those run with the slow ones."""
    translated = page.parent.name == "zh" or "zh-CN" in page.name
    return [] if translated else [block for block in blocks_of(page) if not block.is_slow]


def test_every_block_runs_or_says_why_not() -> None:
    silent = [
        str(block)
        for page in PAGES
        for block in all_blocks(page)
        if not block.is_run and not block.reason and block.language not in SHOWN_LANGUAGES
    ]
    assert silent == [], f"tag them with {RUN_LANGUAGES | SHOWN_LANGUAGES}, or say `not run: why`"


def test_no_command_hides_in_a_block_that_is_only_shown() -> None:
    shown = [
        str(block)
        for page in PAGES
        for block in all_blocks(page)
        if block.language in SHOWN_LANGUAGES
        for command in block.commands
        if command.startswith(("warpzone train", "python ", "pip ", "make "))
    ]
    assert shown == []


@pytest.mark.parametrize("page", list(filter(fast, PAGES)), ids=lambda page: page.name)
def test_the_blocks_of_a_page_run_as_pasted(
    page: Path, rom_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
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
    assert parsed_commands(ROOT / "docs" / "cluster.md")
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
    monkeypatch.syspath_prepend(tmp_path)
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
