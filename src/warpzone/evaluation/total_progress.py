"""Progress of several evaluations in turn, counted as one."""

from __future__ import annotations

from collections.abc import Callable

from warpzone.evaluation.evaluation import Progress

OnProgress = Callable[[str, int, int], None]
"""Called with the current level, and the number of ended and of all episodes of all levels."""


class TotalProgress:
    """Adds up the episodes of evaluations that follow each other."""

    def __init__(self, total: int, report: OnProgress | None) -> None:
        """Creates a count.

        Args:
            total: Episodes of all evaluations.
            report: Receives the progress; None reports nothing.
        """
        self._total = total
        self._report = report
        self._planned = 0

    def part(self, level: str, episodes: int) -> Progress | None:
        """Returns the callback of the next evaluation.

        Args:
            level: Level that it plays.
            episodes: Number of its episodes.
        """
        report, before = self._report, self._planned
        self._planned += episodes
        if report is None:
            return None
        return lambda ended, _: report(level, before + ended, self._total)
