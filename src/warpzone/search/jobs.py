"""Searching several levels in parallel."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from warpzone.search.replay import RomPath
from warpzone.search.solve import SearchOptions, SearchProgress, SearchResult, solve

# On some platforms Ctrl-C is only delivered between blocking waits.
_WAIT_SECONDS = 0.5


@dataclass(frozen=True)
class Job:
    """One of many searches."""

    level: str
    seed: int


_Finished = queue.Queue[tuple[Job, Future[SearchResult]]]


def solve_many(
    jobs: Sequence[Job],
    options: SearchOptions,
    max_parallel: int,
    *,
    game: str,
    rom: RomPath = None,
    on_progress: Callable[[Job, SearchProgress], None] | None = None,
) -> Iterator[tuple[Job, SearchResult]]:
    """Runs searches in up to `max_parallel` threads and yields each result as it completes.

    The native search releases the GIL, so threads run in parallel. If the caller is interrupted or
    stops iterating, all searches stop promptly.

    Args:
        jobs: Levels and seeds to search.
        options: Options shared by all searches.
        max_parallel: Maximum number of searches that run at the same time.
        game: 'smb' or 'lost-levels'.
        rom: Path to the ROM; by default `WARPZONE_ROM`, or the installed one.
        on_progress: Called from the search threads.

    Yields:
        Each job with its result, in order of completion.
    """
    stop = threading.Event()
    finished: _Finished = queue.Queue()

    def progress_callback(job: Job) -> Callable[[SearchProgress], None] | None:
        return None if on_progress is None else lambda progress: on_progress(job, progress)

    def done_callback(job: Job) -> Callable[[Future[SearchResult]], None]:
        return lambda future: finished.put((job, future))

    with ThreadPoolExecutor(max_parallel) as pool:
        try:
            for job in jobs:
                future = pool.submit(
                    solve,
                    job.level,
                    job.seed,
                    options,
                    game=game,
                    rom=rom,
                    on_progress=progress_callback(job),
                    stop=stop,
                )
                future.add_done_callback(done_callback(job))
            for _ in jobs:
                job, future = _wait_for(finished)
                yield job, future.result()
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


def _wait_for(finished: _Finished) -> tuple[Job, Future[SearchResult]]:
    while True:
        try:
            return finished.get(timeout=_WAIT_SECONDS)
        except queue.Empty:
            continue
