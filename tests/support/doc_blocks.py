"""Code blocks of the documentation, and the marks that say how tests run them.

Blocks tagged `python` and `bash` are run as pasted; those of a page, in their order and in one
folder. Comments above a block prepare or shorten it:

| mark | effect |
|---|---|
| `<!-- test: 300_000 -> 2_048 -->` | replaces a number or a few words |
| `<!-- test: set WARPZONE_TRAIN_RUN_STEPS=2048 -->` | sets a variable, for this block |
| `<!-- test: slow -->` | leaves the block to `make docs-test` |
| `<!-- test: needs policies -->` | puts a copy of that folder of the repository beside it |
| `<!-- test: runs mario-1-1 -->` | puts finished runs below runs/, or at a path |
| `<!-- test: training mario-1-1 -->` | trains these runs until the block has ended |
| `<!-- test: serves -->` | presses Ctrl-C once a command has printed an address |
| `<!-- test: file my_module.py -->` | saves the block as a file instead of running it |
| `<!-- test: not run: needs a cluster -->` | says why a block is not run |

The commands of Warpzone in a block that is not run are still parsed.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("README*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "zh").glob("*.md")),
]
RUN_LANGUAGES = {"python", "bash"}
SHOWN_LANGUAGES = {"text", "diff"}  # Output, files and differences: nothing to run.
_BLOCK = re.compile(
    r"^(?P<marks>(?:<!-- test: [^\n]* -->\n)*)```(?P<language>\w*)\n(?P<code>.*?)^```",
    re.DOTALL | re.MULTILINE,
)
_COMMAND = re.compile(
    r"^(?:(?:python|torchrun.*?) -m )?warpzone (?P<arguments>[a-z].*)$", re.MULTILINE
)
_MARK = re.compile(r"<!-- test: (.*?) -->")
_WORDS = ("set", "needs", "runs", "training", "file", "not run:")


@dataclass(frozen=True)
class Block:
    """One block, as a test runs it.

    Attributes:
        page: Page that it is on.
        line: Line of its first mark, or of the block.
        language: Language, or nothing.
        code: What is run, shortened.
        marks: Values of its marks by their first word.
    """

    page: Path
    line: int
    language: str
    code: str
    marks: dict[str, list[str]] = field(default_factory=dict)

    def __str__(self) -> str:
        """Names it by page and line."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def reason(self) -> str:
        """Why it is not run, or nothing."""
        return " ".join(self.marks.get("not run:", ()))

    @property
    def is_run(self) -> bool:
        """Whether a test runs it."""
        return self.language in RUN_LANGUAGES and not self.reason

    @property
    def is_slow(self) -> bool:
        """Whether only `make docs-test` runs it."""
        return "slow" in self.marks

    @property
    def commands(self) -> list[str]:
        """Its lines, with continued ones joined."""
        return [line for line in self.code.replace("\\\n", " ").splitlines() if line.strip()]

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables that shorten it."""
        return dict(entry.split("=", 1) for entry in self.marks.get("set", ()))


def all_blocks(page: Path) -> list[Block]:
    """The blocks of a page."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        code, marks = match["code"], {}
        for mark in _MARK.findall(match["marks"]):
            old, arrow, new = mark.partition(" -> ")
            word = next((word for word in _WORDS if mark.startswith(f"{word} ")), "")
            if word:
                marks.setdefault(word, []).extend(mark.removeprefix(word).split())
            elif arrow:
                assert old in code, f"{page}: {mark}"
                code = code.replace(old, new)
            else:
                assert mark in ("slow", "serves"), f"{page}: {mark}"
                marks[mark] = []
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(page, line, match["language"], code, marks))
    return found


def blocks_of(page: Path) -> list[Block]:
    """The blocks of a page that run."""
    return [block for block in all_blocks(page) if block.is_run]


def parsed_commands(page: Path) -> list[list[str]]:
    """The arguments of Warpzone's commands in the blocks of a page that do not run."""
    found = []
    for block in all_blocks(page):
        if block.reason:
            for command in _COMMAND.finditer("\n".join(block.commands)):
                found.append(shlex.split(command["arguments"], comments=True))
    return found
