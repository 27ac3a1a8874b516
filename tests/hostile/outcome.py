"""Runs a command in this process and judges what it did with hostile input."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpzone import cli
from warpzone.system.atomic_file import is_temporary


@dataclass(frozen=True)
class Outcome:
    """What a command returned and printed."""

    code: int
    out: str
    err: str

    @property
    def errors(self) -> list[str]:
        """Its error lines."""
        return [line for line in self.err.splitlines() if line.startswith("error: ")]


def run(*arguments: str) -> Outcome:
    """Runs `warpzone`; an exception, which a user would see as a traceback, passes through."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code: Any = cli.main(list(arguments))
        except SystemExit as end:  # From the parser.
            code = 0 if end.code is None else end.code
    return Outcome(int(code), out.getvalue(), err.getvalue())


def assert_sane(outcome: Outcome, folder: Path) -> None:
    """One error line for a failure and none for a success, nothing half written, nothing raw."""
    text = outcome.out + outcome.err
    assert outcome.code in (0, 1, 2), outcome
    assert "Traceback" not in text, text
    raw = {
        char for char in text if unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t"
    }
    assert not raw, f"control characters reach the terminal: {raw!r} in {text!r}"
    if outcome.code == 2:
        assert len(outcome.errors) == 1, outcome.err or outcome.out
        assert len(outcome.errors[0]) < 1000, outcome.errors[0][:2000]
    else:
        assert outcome.errors == [], outcome.err
    left = [path for path in folder.rglob(".*") if is_temporary(path.name)]
    assert left == [], "something half written stayed behind"


def leaf_commands(commands: Mapping[str, Any] | None = None, prefix: str = "") -> Iterator[str]:
    """Every command that can be given, such as 'train' and 'rom import'."""
    for name, command in (cli.COMMANDS if commands is None else commands).items():
        inner = getattr(command, "commands", None)
        if isinstance(inner, Mapping):
            yield from leaf_commands(inner, f"{prefix}{name} ")
            if command.default is not None:
                yield prefix + name
        else:
            yield prefix + name
