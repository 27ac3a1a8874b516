"""Live progress of running searches on a terminal; prints nothing otherwise."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.table import Table

from warpzone.search.jobs import Job
from warpzone.search.solve import SearchProgress

_MEGABYTE = 1 << 20
_HEADINGS = ("level", "seed", "seconds", "frames", "frames/s", "cells", "memory", "solution")


class SearchDisplay:
    """A live table of the running searches, shown below the printed lines."""

    def __init__(self, total: int, console: Console | None = None) -> None:
        """Creates a display for `total` searches."""
        self._console = console or Console(stderr=True)
        self._total = total
        self._done = 0
        self._active: dict[Job, SearchProgress] = {}
        self._lock = threading.Lock()
        self._live: Live | None = None

    def __enter__(self) -> Self:
        """Shows the table if the console is a terminal."""
        if self._console.is_terminal:
            self._live = Live(
                get_renderable=self._table,
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

    def finish(self, job: Job) -> None:
        """Removes a search that has ended from the table."""
        with self._lock:
            self._active.pop(job, None)
            self._done += 1

    def _table(self) -> Table:
        with self._lock:
            active, done = dict(self._active), self._done
        table = Table(title=f"{done} of {self._total} searches done", title_justify="left")
        for heading in _HEADINGS:
            table.add_column(heading, justify="right")
        for job, progress in active.items():
            table.add_row(job.level, str(job.seed), *_columns(progress))
        return table


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
