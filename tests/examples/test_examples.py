"""The examples run as they are, for a few steps."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from example_runs import EXAMPLES, PRINTED, check_example


def test_every_example_is_run() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == PRINTED.keys()


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_runs(rom_path: Path, tmp_path: Path, name: str) -> None:
    check_example(sys.executable, name, tmp_path, rom_path)
