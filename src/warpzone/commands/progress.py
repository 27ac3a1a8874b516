"""Progress of a command: a bar on a terminal, a line every now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from warpzone.telemetry.terminal import duration

# Long enough that a log of hours stays readable; a short command prints no line at all.
_SECONDS_BETWEEN_LINES = 30.0


class CommandProgress:
    """Shows how much of a command's work is done, on stderr."""

    def __init__(
        self,
        unit: str = "",
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Creates the display.

        Args:
            unit: What is counted, such as 'episodes'; nothing if it changes.
            console: Where to draw; stderr by default.
            clock: Seconds since any moment.
        """
        self._console = console or Console(stderr=True)
        self._unit = unit
        self._clock = clock
        self._began = clock()
        self._due = self._began + _SECONDS_BETWEEN_LINES
        self._total = 0
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(unit, markup=False),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
            # If stdout is redirected to a file, printed lines must still go there.
            redirect_stdout=sys.stdout.isatty(),
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

    def update(self, name: str, done: int, total: int) -> None:
        """Shows how much is done.

        Args:
            name: What is being worked on, such as a level.
            done: Units of the whole work that are done.
            total: Units of the whole work.
        """
        now = self._clock()
        if total != self._total:  # Other work has begun, whose speed is unknown.
            self._total, self._began = total, now
            self._bar.reset(self._task)
        self._bar.update(self._task, description=name, completed=done, total=total)
        if self._console.is_terminal or now < self._due:
            return
        self._due = now + _SECONDS_BETWEEN_LINES
        line = f"{name}: {done:,} of {total:,} {self._unit}".rstrip()
        if done:
            line += f", about {duration((now - self._began) * (total - done) / done)} left"
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)
