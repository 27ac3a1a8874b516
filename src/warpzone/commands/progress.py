"""A progress bar for evaluations on a terminal; shows nothing otherwise."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class EpisodeProgress:
    """Shows how many episodes have ended."""

    def __init__(self, console: Console | None = None) -> None:
        """Creates a bar on stderr."""
        console = console or Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=None)

    def __enter__(self) -> Self:
        """Starts to draw."""
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Removes the bar."""
        self._bar.stop()

    def update(self, name: str, ended: int, total: int) -> None:
        """Shows the progress of a level, or of whatever `name` is."""
        self._bar.update(self._task, description=name, completed=ended, total=total)
