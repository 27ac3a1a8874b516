"""What a person sees while searches run: a line for each, or nothing without a terminal."""

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


class SearchDisplay:
    """A live table of the searches under way, below the lines that are printed."""

    def __init__(self, total: int, console: Console | None = None) -> None:
        """Expects `total` searches."""
        self._console = console or Console(stderr=True)
        self._total = total
        self._done = 0
        self._active: dict[Job, SearchProgress] = {}
        self._lock = threading.Lock()
        self._live: Live | None = None

    def __enter__(self) -> Self:
        """Shows the table, where there is a terminal for it."""
        if self._console.is_terminal:
            self._live = Live(
                get_renderable=self._table,
                console=self._console,
                refresh_per_second=8,
                transient=True,
                # Lines that go to a file must not be drawn on the screen instead.
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
        """Takes the table away."""
        if self._live is not None:
            self._live.stop()

    def update(self, job: Job, progress: SearchProgress) -> None:
        """A search tells how far it is; any thread may call this."""
        with self._lock:
            self._active[job] = progress

    def finish(self, job: Job) -> None:
        """A search has ended."""
        with self._lock:
            self._active.pop(job, None)
            self._done += 1

    def _table(self) -> Table:
        with self._lock:
            active, done = dict(self._active), self._done
        table = Table(title=f"{done} of {self._total} searches done", title_justify="left")
        for heading in ("level", "seed", "seconds", "frames", "frames/s", "cells", "memory", "way"):
            table.add_column(heading, justify="right")
        for job, now in active.items():
            table.add_row(job.level, str(job.seed), *_cells(now))
        return table


def _cells(now: SearchProgress) -> tuple[str, ...]:
    return (
        f"{now.seconds:.1f}",
        f"{now.frames:,}",
        f"{now.frames / max(now.seconds, 0.01):,.0f}",
        f"{now.cells:,}",
        f"{now.memory / _MEGABYTE:.0f} of {now.memory_limit / _MEGABYTE:.0f} MB",
        "searching"
        if now.solution_frames is None
        else f"{now.solution_frames:,} frames, improving",
    )
