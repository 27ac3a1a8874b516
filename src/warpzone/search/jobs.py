"""Looking for ways through many levels at once."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from warpzone.search.replay import RomPath
from warpzone.search.solve import SearchOptions, SearchProgress, SearchResult, solve

# On some systems an interrupt is heard only between waits.
_WAIT_SECONDS = 0.5


@dataclass(frozen=True)
class Job:
    """One search of many."""

    level: str
    seed: int


_Finished = queue.Queue[tuple[Job, Future[SearchResult]]]


def explore_many(
    jobs: Sequence[Job],
    options: SearchOptions,
    at_once: int,
    *,
    game: str,
    rom: RomPath = None,
    on_progress: Callable[[Job, SearchProgress], None] | None = None,
) -> Iterator[tuple[Job, SearchResult]]:
    """Runs searches, `at_once` of them in threads of their own, and yields each as it ends.

    The native search lets go of Python's lock, so threads are as good as processes here. When the
    caller is interrupted or stops iterating, all searches end within a moment.

    Args:
        jobs: Levels and seeds.
        options: Of every search.
        at_once: How many run together.
        game: 'smb' or 'lost-levels'.
        rom: The game's image.
        on_progress: Called from the threads of the searches.
    """
    stop = threading.Event()
    finished: _Finished = queue.Queue()

    def tell(job: Job) -> Callable[[SearchProgress], None] | None:
        return None if on_progress is None else lambda progress: on_progress(job, progress)

    def hand_in(job: Job) -> Callable[[Future[SearchResult]], None]:
        return lambda future: finished.put((job, future))

    with ThreadPoolExecutor(at_once) as pool:
        try:
            for job in jobs:
                future = pool.submit(
                    solve,
                    job.level,
                    job.seed,
                    options,
                    game=game,
                    rom=rom,
                    on_progress=tell(job),
                    stop=stop,
                )
                future.add_done_callback(hand_in(job))
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
