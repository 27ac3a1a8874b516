"""Plays the measurements of a scoreboard, in this process or in several at a time."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from warpzone.campaign.measure import measure
from warpzone.campaign.protocols import Protocol, row_seed
from warpzone.campaign.scoreboard import Result
from warpzone.errors import ScoreboardError
from warpzone.evaluation.evaluation import Progress
from warpzone.evaluation.total_progress import OnProgress, TotalProgress
from warpzone.evaluation.trained import TrainedPolicy, load_policy
from warpzone.registry import load_plugins


@dataclass(frozen=True)
class Wanted:
    """A measurement to make: one policy file on one level under one protocol."""

    path: Path
    sha256: str
    level: str
    protocol: Protocol
    episodes: int

    def play(self, progress: Progress | None = None, num_threads: int | None = None) -> Result:
        """Plays the episodes; equal for any number of processes and threads."""
        return measure(
            _loaded(self.path, self.sha256),
            self.level,
            self.episodes,
            row_seed(self.sha256, self.level, self.protocol),
            self.protocol,
            progress=progress,
            num_threads=num_threads,
        )


@dataclass(frozen=True)
class Measurer:
    """Plays measurements.

    Attributes:
        jobs: Number of measurements to play at the same time, each in a process of its own; 1
            plays in this process.
        plugins: Modules that these processes import first.
        progress: Called with the level, and the number of episodes that are over and of all.
    """

    jobs: int = 1
    plugins: Sequence[str] = ()
    progress: OnProgress | None = None

    def play(self, wanted: Sequence[Wanted]) -> Iterator[Result]:
        """Plays measurements and yields their results in the given order.

        Raises:
            ScoreboardError: A process was killed.
            CheckpointError: A file is damaged, or not a policy.
        """
        total = TotalProgress(sum(one.episodes for one in wanted), self.progress)
        if self.jobs == 1 or len(wanted) < 2:
            for one in wanted:
                yield one.play(total.part(one.level, one.episodes))
            return
        pool = ProcessPoolExecutor(
            min(self.jobs, len(wanted)),
            multiprocessing.get_context("spawn"),
            _prepare,
            (tuple(self.plugins),),
        )
        try:
            futures = [pool.submit(one.play, num_threads=1) for one in wanted]
            for one, future in zip(wanted, futures, strict=True):
                result = future.result()
                count = total.part(one.level, one.episodes)
                if count is not None:
                    count(one.episodes, one.episodes)
                yield result
        except BrokenProcessPool as error:
            raise ScoreboardError(
                "a process that measured was killed, perhaps because memory ran out; use fewer "
                "--jobs"
            ) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _prepare(plugins: Sequence[str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a traceback.
    load_plugins(plugins)


@lru_cache(maxsize=1)
def _loaded(path: Path, sha256: str) -> TrainedPolicy:
    """The policy of the last measurement; the hash tells files of the same name apart."""
    del sha256
    return load_policy(path)
