"""The files of a scoreboard's folder: policies come in, better ones stay, good ones go out."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from warpzone.campaign.board_image import draw_board
from warpzone.campaign.board_text import write_markdown
from warpzone.campaign.measure import Tell, measure_policy
from warpzone.campaign.scoreboard import BOARD_FILE, Row, Scoreboard, read_board, write_board
from warpzone.errors import ScoreboardError
from warpzone.evaluate.export import export_policy
from warpzone.evaluate.policy_file import SUFFIX, read_policy_facts
from warpzone.runs.directory import run_of


def publish(folder: Path, board: Scoreboard) -> None:
    """Writes the scoreboard as JSON, Markdown and a picture."""
    with _sentence(folder):
        folder.mkdir(parents=True, exist_ok=True)
        write_board(folder, board)
        write_markdown(folder, board)
        draw_board(folder / "scoreboard.png", board)


def open_board(folder: Path, new: Scoreboard) -> Scoreboard:
    """The scoreboard of a folder, or `new` where there is none yet."""
    return read_board(folder) if (folder / BOARD_FILE).exists() else new


@dataclass(frozen=True)
class Added:
    """What became of a policy: its rows, and those of them that took a place."""

    board: Scoreboard
    rows: Sequence[Row]
    taken: Sequence[Row]


def add_policy(
    folder: Path,
    board: Scoreboard,
    target: Path,
    *,
    place: Path = Path(),
    whole: bool = False,
    tell: Tell | None = None,
) -> Added:
    """Measures a policy and gives it the rows of the levels that it plays better than the present.

    Args:
        folder: Of the scoreboard.
        board: As it stands.
        target: A run, a checkpoint, or a policy file.
        place: Where policies lie, from the scoreboard's folder.
        whole: A policy that is at the goal on all its levels gets all their rows, even where an
            earlier one, which is not, did better.
        tell: Called with what is being done.

    Returns:
        The new scoreboard, which is written already, and what was measured.
    """
    with _sentence(folder), _incoming(folder / place, target) as file:
        facts = read_policy_facts(file)
        rows = measure_policy(folder, file, board.measuring, tell=tell)
        masters = all(row.score.clear_rate >= board.goal for row in rows)
        taken = [
            row for row in rows if (whole and masters) or _is_better(row, board.rows.get(row.level))
        ]
        if not taken:
            return Added(board, rows, ())
        kept = {row.policy for level, row in board.rows.items() if level not in _levels(taken)}
        stem = facts.levels[0] if len(facts.levels) == 1 else _stem(target)
        name = _free_name(place, stem, kept)
        taken = [replace(row, policy=name) for row in taken]
        before = {row.policy for row in board.rows.values()}
        board = board.with_rows(taken)
        file.replace(folder / name)
        publish(folder, board)
        for unused in before - {row.policy for row in board.rows.values()}:
            (folder / unused).unlink(missing_ok=True)
    return Added(board, rows, taken)


def export_reached(folder: Path, board: Scoreboard, destination: Path) -> Scoreboard:
    """Copies the policies that reach the goal, with their rows, into a folder of their own.

    Returns:
        The scoreboard that was written there.

    Raises:
        ScoreboardError: None reaches the goal, or something cannot be written.
    """
    rows = [board.rows[level] for level in board.reached]
    if not rows:
        raise ScoreboardError(f"no level of {folder} is at {board.goal:.0%}; nothing to export")
    with _sentence(destination):
        destination.mkdir(parents=True, exist_ok=True)
        for policy in {row.policy for row in rows}:
            shutil.copyfile(folder / policy, destination / Path(policy).name)
    chosen = replace(board, rows={}).with_rows(
        replace(row, policy=Path(row.policy).name) for row in rows
    )
    publish(destination, chosen)
    return chosen


@contextmanager
def _incoming(place: Path, target: Path) -> Iterator[Path]:
    """The policy under a name that nobody looks for, so that what is there stays for now."""
    file = place / f".incoming{SUFFIX}"
    place.mkdir(parents=True, exist_ok=True)
    try:
        if target.suffix == SUFFIX:
            read_policy_facts(target)
            shutil.copyfile(target, file)
        else:
            export_policy(target, file)
        yield file
    finally:
        file.unlink(missing_ok=True)


@contextmanager
def _sentence(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ScoreboardError(f"{folder} cannot be written: {error}") from error


def _is_better(row: Row, before: Row | None) -> bool:
    return before is None or row.score.clear_rate > before.score.clear_rate


def _levels(rows: Sequence[Row]) -> set[str]:
    return {row.level for row in rows}


def _stem(target: Path) -> str:
    return target.stem if target.suffix == SUFFIX else run_of(target).name


def _free_name(place: Path, stem: str, kept: set[str]) -> str:
    """A name whose file no other row needs."""
    number = 1
    while True:
        numbered = stem if number == 1 else f"{stem}-{number}"
        name = (place / f"{numbered}{SUFFIX}").as_posix()
        if name not in kept:
            return name
        number += 1
