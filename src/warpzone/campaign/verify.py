"""Verifies a scoreboard: the same files, played again, must give the same numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from warpzone.campaign.measurer import Measurer, Wanted
from warpzone.campaign.protocols import PROTOCOLS
from warpzone.campaign.scoreboard import Row, Scoreboard, all_levels
from warpzone.errors import CheckpointError
from warpzone.evaluation.policy_file import read_policy_file


@dataclass(frozen=True)
class Verdict:
    """The verdict on one row, which holds when there are no problems."""

    level: str
    problems: Sequence[str]

    def __str__(self) -> str:
        """One line."""
        return f"{self.level}: {'; '.join(self.problems) if self.problems else 'holds'}"


def verify(
    folder: Path, board: Scoreboard, levels: Sequence[str] = (), measurer: Measurer | None = None
) -> Iterator[Verdict]:
    """Measures every row again, in the order of the game.

    Args:
        folder: The scoreboard's folder.
        board: The scoreboard.
        levels: Levels to measure; all by default.
        measurer: Plays the episodes; in this process by default.
    """
    rows = [board.rows[level] for level in levels or all_levels() if level in board.rows]
    found = {row.level: _found_in_files(folder, board, row) for row in rows}
    wanted = {
        row.level: [] if found[row.level].is_final else list(_wanted(folder, row)) for row in rows
    }
    results = (measurer or Measurer()).play([one for level in wanted for one in wanted[level]])
    for row in rows:
        problems = [*found[row.level].problems]
        for one in wanted[row.level]:
            result, before = next(results), row.results[one.protocol.name]
            if (result.clears, result.episodes) != (before.clears, before.episodes):
                problems.append(
                    f"{one.protocol.name}: {result.clears} of {result.episodes} clear instead of "
                    f"{before.clears} of {before.episodes}"
                )
        yield Verdict(row.level, problems)


class _Found(NamedTuple):
    """Problems of a row that its files show, and whether they leave nothing to play."""

    problems: Sequence[str]
    is_final: bool = False


def _found_in_files(folder: Path, board: Scoreboard, row: Row) -> _Found:
    try:
        sha256 = read_policy_file(folder / row.policy).sha256
    except CheckpointError as error:
        return _Found([str(error)], is_final=True)
    if sha256 != row.sha256:
        problem = f"{row.policy} has changed: sha256 {sha256[:12]} instead of {row.sha256[:12]}"
        return _Found([problem], is_final=True)
    problems = []
    kept = [one for one in board.history if (one.sha256, one.level) == (row.sha256, row.level)]
    if [one.results for one in kept] != [row.results]:
        problems.append("the history has another measurement of this file")
    if row.score.episodes != board.measuring.episodes:
        problems.append(f"{row.score.episodes} episodes instead of {board.measuring.episodes}")
    return _Found(problems)


def _wanted(folder: Path, row: Row) -> Iterator[Wanted]:
    for protocol in PROTOCOLS:
        before = row.results.get(protocol.name)
        if before is not None:
            path = folder / row.policy
            yield Wanted(path, row.sha256, row.level, protocol, before.episodes)
