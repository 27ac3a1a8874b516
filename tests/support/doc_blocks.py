"""Code blocks of the documentation, and how long ones are shortened.

Blocks tagged `python` and `bash` are run as pasted; those of a page, in their order and in one
folder. A comment above a block shortens it for tests: `<!-- test: 300_000 -> 2_048 -->` replaces a
number, `<!-- test: slow -->` leaves the block to `make docs-test`, and `<!-- test: needs policies
-->` puts a copy of that folder of the repository beside it.

Other blocks are not run: they train for hours, or need other machines. The commands of Warpzone in
them are still parsed.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("README*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "zh").glob("*.md")),
]
_BLOCK = re.compile(
    r"(?P<marks>(?:<!-- test: [^\n]* -->\n)*)```(?P<language>python|bash)\n(?P<code>.*?)```",
    re.DOTALL,
)
_ANY_BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<code>.*?)^```", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^(?:python -m )?warpzone (?P<arguments>[a-z].*)$", re.MULTILINE)
_NEEDS = "needs "
_MARK = re.compile(r"<!-- test: (.*?) -->")


@dataclass(frozen=True)
class Block:
    """One block, as a test runs it."""

    page: Path
    line: int
    language: str
    code: str
    slow: bool
    folders: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Names it by page and line."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    """The blocks of a page that run."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        marks, code = _MARK.findall(match["marks"]), match["code"]
        for mark in marks:
            old, arrow, new = mark.partition(" -> ")
            if arrow:
                assert old in code, f"{page}: {mark}"
                code = code.replace(old, new)
        line = text.count("\n", 0, match.start("language")) + 1
        folders = [mark.removeprefix(_NEEDS) for mark in marks if mark.startswith(_NEEDS)]
        slow = "slow" in marks
        found.append(Block(page, line, match["language"], code, slow, tuple(folders)))
    return found


def parsed_commands(page: Path) -> list[list[str]]:
    """The arguments of Warpzone's commands in the blocks of a page that do not run."""
    found = []
    for block in _ANY_BLOCK.finditer(page.read_text(encoding="utf-8")):
        if block["language"] not in ("", "sh"):
            continue
        code = block["code"].replace("\\\n", " ")  # Continued lines.
        if code.startswith("warpzone solution "):  # The format of a file.
            continue
        for command in _COMMAND.finditer(code):
            found.append(shlex.split(command["arguments"], comments=True))
    return found
