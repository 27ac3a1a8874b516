"""Progress of running searches: a live table on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from warpzone.search.jobs import Job
from warpzone.search.solve import SearchProgress

_MEGABYTE = 1 << 20
_SECONDS_BETWEEN_LINES = 30.0
_HEADINGS = ("level", "seed", "seconds", "frames", "frames/s", "cells", "memory", "solution")


class SearchDisplay:
    """A live table of the running searches, shown below the printed lines."""

    def __init__(
        self,
        total: int,
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Creates a display for `total` searches.

        Args:
            total: Number of searches.
            console: Where to draw; stderr by default.
            clock: Seconds since any moment.
        """
        self._console = console or Console(stderr=True)
        self._total = total
        self._clock = clock
        self._due = clock() + _SECONDS_BETWEEN_LINES
        self._done = 0
        self._active: dict[Job, SearchProgress] = {}
        self._lock = threading.Lock()
        self._live: Live | None = None

    def __enter__(self) -> Self:
        """Shows the table if the console is a terminal."""
        if self._console.is_terminal:
            self._live = Live(
                get_renderable=self._contents,
                console=self._console,
                refresh_per_second=8,
                transient=True,
                # If stdout is redirected to a file, printed lines must still go there.
                redirect_stdout=sys.stdout.isatty(),
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Removes the table."""
        if self._live is not None:
            self._live.stop()

    def update(self, job: Job, progress: SearchProgress) -> None:
        """Records the progress of a search. Thread-safe."""
        with self._lock:
            self._active[job] = progress
            if not self._console.is_terminal and self._clock() >= self._due:
                self._due = self._clock() + _SECONDS_BETWEEN_LINES
                self._print_line()

    def finish(self, job: Job) -> None:
        """Removes a search that has ended from the table."""
        with self._lock:
            self._active.pop(job, None)
            self._done += 1

    def _print_line(self) -> None:
        searches = ", ".join(
            f"{job.level} seed {job.seed} {progress.seconds:.0f} s, {progress.cells:,} cells"
            for job, progress in self._active.items()
        )
        line = f"{self._done} of {self._total} searches done; searching {searches}"
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _contents(self) -> Group:
        with self._lock:
            active, done = dict(self._active), self._done
        table = Table()
        for heading in _HEADINGS:
            table.add_column(heading, justify="right")
        for job, progress in active.items():
            table.add_row(job.level, str(job.seed), *_columns(progress))
        bar = Table.grid(padding=(0, 1))
        bar.add_row(
            f"{done} of {self._total} searches done",
            ProgressBar(total=self._total, completed=done, width=40),
        )
        return Group(bar, table)


def _columns(progress: SearchProgress) -> tuple[str, ...]:
    return (
        f"{progress.seconds:.1f}",
        f"{progress.frames:,}",
        f"{progress.frames / max(progress.seconds, 0.01):,.0f}",
        f"{progress.cells:,}",
        f"{progress.memory / _MEGABYTE:.0f} of {progress.memory_limit / _MEGABYTE:.0f} MB",
        "searching"
        if progress.solution_frames is None
        else f"{progress.solution_frames:,} frames, improving",
    )
