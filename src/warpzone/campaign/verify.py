"""Verifies a scoreboard: the same files, played again, must give the same numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpzone.campaign.measure import measure
from warpzone.campaign.protocols import PROTOCOLS, row_seed
from warpzone.campaign.scoreboard import Row, Scoreboard, all_levels
from warpzone.errors import CheckpointError
from warpzone.evaluation.policy_file import read_policy_file
from warpzone.evaluation.total_progress import OnProgress, TotalProgress
from warpzone.evaluation.trained import load_policy


@dataclass(frozen=True)
class Verdict:
    """The verdict on one row, which holds when there are no problems."""

    level: str
    problems: Sequence[str]

    def __str__(self) -> str:
        """One line."""
        return f"{self.level}: {'; '.join(self.problems) if self.problems else 'holds'}"


def verify(
    folder: Path,
    board: Scoreboard,
    levels: Sequence[str] = (),
    progress: OnProgress | None = None,
) -> Iterator[Verdict]:
    """Measures every row again, in the order of the game.

    Args:
        folder: The scoreboard's folder.
        board: The scoreboard.
        levels: Levels to measure; all by default.
        progress: Called after each step.
    """
    rows = [board.rows[level] for level in levels or all_levels() if level in board.rows]
    episodes = sum(result.episodes for row in rows for result in row.results.values())
    total = TotalProgress(episodes, progress)
    for row in rows:
        try:
            problems = list(_problems(folder, board, row, total))
        except CheckpointError as error:
            problems = [str(error)]
        yield Verdict(row.level, problems)


def _problems(folder: Path, board: Scoreboard, row: Row, total: TotalProgress) -> Iterator[str]:
    path = folder / row.policy
    found = read_policy_file(path).sha256
    if found != row.sha256:
        yield f"{row.policy} has changed: sha256 {found[:12]} instead of {row.sha256[:12]}"
        return
    kept = [one for one in board.history if (one.sha256, one.level) == (row.sha256, row.level)]
    if [one.results for one in kept] != [row.results]:
        yield "the history has another measurement of this file"
    if row.score.episodes != board.measuring.episodes:
        yield f"{row.score.episodes} episodes instead of {board.measuring.episodes}"
    trained = load_policy(path)
    for protocol in PROTOCOLS:
        before = row.results.get(protocol.name)
        if before is None:
            continue
        seed = row_seed(row.sha256, row.level, protocol)
        progress = total.part(row.level, before.episodes)
        result = measure(trained, row.level, before.episodes, seed, protocol, progress=progress)
        if (result.clears, result.episodes) != (before.clears, before.episodes):
            yield (
                f"{protocol.name}: {result.clears} of {result.episodes} clear instead of "
                f"{before.clears} of {before.episodes}"
            )
