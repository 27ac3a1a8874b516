"""Shared by the benchmark commands: lists of numbers, output files, a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from warpzone.config.option import option

T = TypeVar("T")


def seconds_option(default: float) -> float:
    """Declares how long a benchmark measures, with the same limits everywhere."""
    seconds: float = option(
        default, "Seconds per measurement.", above=0.0, at_most=3600.0, metavar="SECONDS"
    )
    return seconds


def csv_option() -> Path | None:
    """Declares the file to which a benchmark also writes its results."""
    file: Path | None = option(None, "Also write the results to this CSV file.", metavar="FILE")
    return file


def numbers(name: str, text: str, at_most: int) -> list[int]:
    """Parses a list of whole numbers above 0.

    Raises:
        ConfigError: The text is not such a list, or a number is too large.
    """
    from warpzone.errors import ConfigError

    parts = [part.strip() for part in text.split(",")]
    # The length is checked first: Python refuses to convert numbers with thousands of digits.
    if not all(part.isdecimal() and len(part) < 10 and 0 < int(part) <= at_most for part in parts):
        raise ConfigError(
            f"{name} is {text!r}; it must be whole numbers from 1 to {at_most:,}, such as 1,16"
        )
    return [int(part) for part in parts]


def check_folders(*files: Path | None) -> None:
    """Checks output folders before minutes are spent on results that cannot be saved."""
    from warpzone.errors import ConfigError

    for file in files:
        if file is not None and not file.parent.is_dir():
            raise ConfigError(f"the folder {file.parent} does not exist; create it first")


def tracked(items: Sequence[T], title: str) -> Iterable[T]:
    """Iterates over items with a progress bar, if standard error is a terminal."""
    from rich.console import Console
    from rich.progress import track

    screen = Console(stderr=True)
    return track(items, title, console=screen, transient=True, disable=not sys.stderr.isatty())
