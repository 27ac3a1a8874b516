"""The files of a scoreboard's folder: policies are added, replaced by better ones, and exported."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from warpzone.campaign.board_image import draw_board
from warpzone.campaign.board_json import read_board, write_board
from warpzone.campaign.board_text import write_markdown
from warpzone.campaign.measurer import Measurer
from warpzone.campaign.policy_rows import measure_policy
from warpzone.campaign.protocols import PROTOCOLS
from warpzone.campaign.scoreboard import Row, Scoreboard, all_levels
from warpzone.errors import ScoreboardError
from warpzone.evaluation.export import export_policy
from warpzone.evaluation.policy_file import SUFFIX, read_policy_facts
from warpzone.evaluation.policy_folder import BOARD_FILE
from warpzone.runs.checkpoint import sha256_of
from warpzone.runs.directory import run_of
from warpzone.system.atomic_file import replacing
from warpzone.system.os_errors import describe_os_error


def publish(folder: Path, board: Scoreboard) -> None:
    """Writes the scoreboard as JSON, Markdown and an image."""
    with updating(folder):
        folder.mkdir(parents=True, exist_ok=True)
        write_board(folder, board)
        write_markdown(folder, board)
        draw_board(folder / "scoreboard.png", board)


def open_board(folder: Path, new: Scoreboard) -> Scoreboard:
    """The scoreboard of a folder, or `new` where there is none yet."""
    return read_board(folder) if (folder / BOARD_FILE).exists() else new


@dataclass(frozen=True)
class Added:
    """The outcome for a policy.

    Attributes:
        board: The new scoreboard, which is already written.
        rows: The policy's measurements.
        taken: Those of them that became rows of the scoreboard.
        known: Whether the file had been measured before, so that no episode was played.
    """

    board: Scoreboard
    rows: Sequence[Row]
    taken: Sequence[Row]
    known: bool = False


def add_policy(
    folder: Path,
    board: Scoreboard,
    target: Path,
    *,
    place: Path = Path(),
    whole: bool = False,
    measurer: Measurer | None = None,
    lock: AbstractContextManager[None] | None = None,
) -> Added:
    """Measures a policy once and gives it the rows of the levels that it plays better.

    A file that was measured before, or another export of the same checkpoint, keeps the
    measurement that it has: measuring again until a number pleases would bias the scoreboard.

    Args:
        folder: The scoreboard's folder.
        board: The current scoreboard.
        target: A run, a checkpoint, or a policy file.
        place: The folder of policies, as a path from the scoreboard's folder.
        whole: A policy that reaches the goal on all its levels gets all their rows, even where an
            earlier policy, which does not, plays one of them better.
        measurer: Plays the episodes; in this process by default.
        lock: If other processes may add policies at the same time: held while the scoreboard is
            read again and changed, but not while episodes are played.

    Returns:
        The new scoreboard, and what was measured.
    """
    with updating(folder), _incoming(folder / place, target) as file:
        levels = read_policy_facts(file).levels
        stem = levels[0] if len(levels) == 1 else _stem(target)
        measured = _measure_once(folder, board, file, measurer or Measurer())
        with lock or nullcontext():
            if lock is not None:
                board = replace(read_board(folder), goal=board.goal)
            return _enter(folder, board, file, measured, place=place, stem=stem, whole=whole)


class _Measured(NamedTuple):
    """Measurements of a policy file, and whether they were complete before."""

    rows: Sequence[Row]
    known: bool


def _measure_once(folder: Path, board: Scoreboard, file: Path, measurer: Measurer) -> _Measured:
    """Measures what a policy file has not been measured with yet."""
    kept = board.measurements_of(sha256_of(file), read_policy_facts(file).checkpoint_sha256)
    other_file = bool(kept) and kept[0].sha256 != sha256_of(file)
    if other_file or (kept and all(len(row.results) == len(PROTOCOLS) for row in kept)):
        return _Measured(kept, True)
    results = {row.level: row.results for row in kept}
    return _Measured(measure_policy(folder, file, board.measuring, results, measurer), False)


def _enter(
    folder: Path,
    board: Scoreboard,
    file: Path,
    measured: _Measured,
    *,
    place: Path,
    stem: str,
    whole: bool,
) -> Added:
    """Enters measurements into a scoreboard, and moves the file if it gets rows.

    Args:
        folder: The scoreboard's folder.
        board: The latest scoreboard.
        file: The policy file, under a temporary name.
        measured: Its measurements.
        place: The folder of policies, as a path from the scoreboard's folder.
        stem: The preferred name of the file, without the suffix.
        whole: See `add_policy`.
    """
    rows, known, sha256 = *measured, sha256_of(file)
    before = board
    if not known:
        named = (place / f"{stem}{SUFFIX}").as_posix()
        rows = [replace(row, policy=named) for row in rows]
        board = _completed(board.with_measurements(rows))
    masters = all(row.score.clear_rate >= board.goal for row in rows)
    taken: Sequence[Row] = ()
    if rows[0].sha256 == sha256:
        taken = tuple(
            row for row in rows if (whole and masters) or is_better(row, board.rows.get(row.level))
        )
    if taken:
        replaced = replaced_by(board, {row.level for row in taken})
        name = free_name(folder, place, stem, {sha256, *replaced})
        taken = tuple(replace(row, policy=name) for row in taken)
        board = board.with_rows(taken)
        file.replace(folder / name)
    if board != before:
        publish(folder, board)
        remove_replaced(folder, before, board)
    return Added(board, rows, taken, known)


def export_reached(folder: Path, board: Scoreboard, destination: Path) -> Scoreboard:
    """Copies the policies that reach the goal, with their rows, into another folder.

    Returns:
        The scoreboard that was written there.

    Raises:
        ScoreboardError: No policy reaches the goal, or a file cannot be read or written.
    """
    rows = [board.rows[level] for level in board.reached]
    if not rows:
        raise ScoreboardError(
            f"no level of {folder} reaches {board.goal:.0%}; there is nothing to export"
        )
    with updating(destination):
        destination.mkdir(parents=True, exist_ok=True)
        before = open_board(destination, Scoreboard())
        replaced = replaced_by(before, set(all_levels()))
        names: dict[str, str] = {}
        for row in rows:
            if row.policy not in names:
                sha256 = sha256_of(folder / row.policy)
                stem = Path(row.policy).stem
                names[row.policy] = free_name(destination, Path(), stem, {sha256, *replaced})
                with replacing(destination / names[row.policy]) as part:
                    shutil.copyfile(folder / row.policy, part)
    chosen = replace(board, rows={}, history=before.history).with_rows(
        replace(row, policy=names[row.policy]) for row in rows
    )
    # Measurements of other files of the same levels show how many were needed.
    levels = {row.level for row in rows}
    chosen = chosen.with_measurements([row for row in board.history if row.level in levels])
    publish(destination, chosen)
    return chosen


@contextmanager
def _incoming(place: Path, target: Path) -> Iterator[Path]:
    """The policy under a temporary name, so that the current one stays for now."""
    file = place / f".incoming-{_stem(target)}{SUFFIX}"
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
def updating(folder: Path) -> Iterator[None]:
    """Turns errors of the operating system into one sentence about the folder."""
    try:
        yield
    except OSError as error:
        raise ScoreboardError(f"{folder} cannot be updated: {describe_os_error(error)}") from error


def _completed(board: Scoreboard) -> Scoreboard:
    """The scoreboard whose rows have all protocols that their measurements have by now."""
    latest = {(row.sha256, row.level): row.results for row in board.history}
    return board.with_rows(
        replace(row, results=latest.get((row.sha256, row.level), row.results))
        for row in board.rows.values()
    )


def is_better(row: Row, before: Row | None) -> bool:
    """Whether a row should replace the current one of its level."""
    return before is None or row.score.clear_rate > before.score.clear_rate


def _stem(target: Path) -> str:
    return target.stem if target.suffix == SUFFIX else run_of(target).name


def replaced_by(board: Scoreboard, levels: set[str]) -> set[str]:
    """Hashes of the policies that no row needs once some levels have new rows."""
    kept = {row.policy for level, row in board.rows.items() if level not in levels}
    return {row.sha256 for row in board.rows.values() if row.policy not in kept}


def free_name(folder: Path, place: Path, stem: str, replaceable: set[str]) -> str:
    """A name that no file has, unless its content is known: nothing else is ever replaced.

    Args:
        folder: The scoreboard's folder.
        place: The folder of policies, as a path from it.
        stem: The preferred name without the suffix.
        replaceable: Hashes of files that may be replaced.
    """
    number = 1
    while True:
        numbered = stem if number == 1 else f"{stem}-{number}"
        name = (place / f"{numbered}{SUFFIX}").as_posix()
        if not (folder / name).exists() or sha256_of(folder / name) in replaceable:
            return name
        number += 1


def remove_replaced(folder: Path, before: Scoreboard, after: Scoreboard) -> None:
    """Removes policies that no row names any more, if they are still the files that it measured."""
    used = {row.policy for row in after.rows.values()}
    for row in before.rows.values():
        file = folder / row.policy
        if row.policy not in used and file.is_file() and sha256_of(file) == row.sha256:
            file.unlink()
