"""Merges scoreboards: rows that were measured elsewhere, with their policies."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from warpzone.campaign.board_files import (
    free_name,
    is_better,
    publish,
    remove_replaced,
    replaced_by,
    updating,
)
from warpzone.campaign.board_json import read_board
from warpzone.campaign.scoreboard import Row, Scoreboard
from warpzone.errors import ScoreboardError
from warpzone.runs.checkpoint import sha256_of
from warpzone.system.atomic_file import replacing


def merge_board(folder: Path, board: Scoreboard, source: Path) -> tuple[Scoreboard, Sequence[Row]]:
    """Takes the rows of another scoreboard that are better, and all of its measurements.

    Nothing is measured again: seeds follow from the policy file, so the result would be the same.

    Args:
        folder: The scoreboard's folder.
        board: The current scoreboard.
        source: The folder of the other scoreboard.

    Returns:
        The new scoreboard, and the rows that it took.

    Raises:
        ScoreboardError: The other scoreboard cannot be read, has other numbers of episodes, or
            names a file that is not the one that was measured.
    """
    other = read_board(source)
    if other.measuring != board.measuring:
        raise ScoreboardError(
            f"{source} measures {other.measuring.episodes} episodes per row, but {folder} measures "
            f"{board.measuring.episodes}; rows can only be merged if they are equal"
        )
    for row in other.rows.values():
        _check_file(source, row)
    before, board = board, board.with_measurements(other.history)
    taken: list[Row] = []
    with updating(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name in dict.fromkeys(row.policy for row in other.rows.values()):
            rows = [
                row
                for row in other.rows.values()
                if row.policy == name and is_better(row, board.rows.get(row.level))
            ]
            if rows:
                board, moved = _take(folder, board, source / name, rows)
                taken += moved
        publish(folder, board)
        remove_replaced(folder, before, board)
    return board, taken


def _take(
    folder: Path, board: Scoreboard, file: Path, rows: Sequence[Row]
) -> tuple[Scoreboard, Sequence[Row]]:
    replaceable = {rows[0].sha256, *replaced_by(board, {row.level for row in rows})}
    name = free_name(folder, Path(), file.stem, replaceable)
    with replacing(folder / name) as part:
        shutil.copyfile(file, part)
    moved = [replace(row, policy=name) for row in rows]
    return board.with_rows(moved), moved


def _check_file(source: Path, row: Row) -> None:
    file = source / row.policy
    if not file.is_file() or sha256_of(file) != row.sha256:
        raise ScoreboardError(
            f"{file} is missing or not the file that the row of {row.level} was measured with"
        )
