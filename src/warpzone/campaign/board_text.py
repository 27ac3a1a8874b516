"""The scoreboard as Markdown and as rows of a table."""

from __future__ import annotations

from pathlib import Path

from warpzone.campaign.protocols import MAIN, NOOP_MAX, OTHERS
from warpzone.campaign.scoreboard import Result, Row, Scoreboard, all_levels
from warpzone.system.atomic_file import write_text_atomically
from warpzone.telemetry.terminal import short

HEADINGS = (
    "level",
    "clear rate",
    "95 % interval",
    *(protocol.heading for protocol in OTHERS),
    "files",
    "steps",
    "minutes",
    "seed",
    "commit",
    "sha256",
    "ends",
)
_HEX_DIGITS = 10
_WHOLE_PERCENT = 100  # Episodes up to which a percent is the unit.


def table_rows(board: Scoreboard) -> list[tuple[str, ...]]:
    """One line per level, with one cell per heading."""
    blank = ("",) * (len(HEADINGS) - 2)
    return [
        _cells(board, board.rows[level]) if level in board.rows else (level, "not trained", *blank)
        for level in all_levels()
    ]


def how(board: Scoreboard) -> str:
    """One sentence on how the numbers were measured."""
    return (
        f"{board.measuring.episodes} episodes each from the level's start, {MAIN.description}, up "
        f"to {NOOP_MAX} no-op frames, seeds from the hash of the policy file"
    )


def to_markdown(board: Scoreboard) -> str:
    """The whole scoreboard as a page."""
    lines = [f"**{board.summary}** ({how(board)}).", ""]
    lines.append(f"| {' | '.join(HEADINGS)} |")
    lines.append("|" + "---|" * len(HEADINGS))
    for level, cells in zip(all_levels(), table_rows(board), strict=True):
        marked = f"**{cells[1]}**" if board.reaches(level) else cells[1]
        lines.append(f"| {' | '.join((cells[0], marked, *cells[2:]))} |")
    others = "; ".join(f"{one.heading}: {one.description}" for one in OTHERS)
    lines += [
        "",
        f"Other protocols, {board.measuring.other_episodes} episodes each: {others}; an "
        "empty cell has not been measured yet. Files is the number of policy files that were "
        "measured on the level; a file is measured once. Steps and minutes are those of the "
        "last run, which may have started from an earlier policy (`--init-from`), ends those of "
        "the episodes behind the clear rate, and the hash is that of the policy file. `warpzone "
        "scoreboard FOLDER --verify` repeats every row.",
        "",
        *_history(board),
    ]
    return "\n".join(lines) + "\n"


def _history(board: Scoreboard) -> list[str]:
    """All measurements as Markdown, oldest first."""
    lines = [
        "All measurements, oldest first:",
        "",
        "| measured | level | clears | sha256 | steps |",
        "|---|---|---|---|---|",
    ]
    for row in board.history:
        clears = f"{row.score.clears} of {row.score.episodes}"
        lines.append(
            f"| {row.measured} | {row.level} | {clears} | {row.sha256[:_HEX_DIGITS]} "
            f"| {short(row.steps)} |"
        )
    return lines


def write_markdown(folder: Path, board: Scoreboard) -> Path:
    """Writes `scoreboard.md`."""
    path = folder / "scoreboard.md"
    write_text_atomically(path, to_markdown(board))
    return path


def score_line(row: Row) -> str:
    """One row as a sentence."""
    score = row.score
    return f"{percent(score)} of {score.episodes} episodes clear ({_interval(score)})"


def _cells(board: Scoreboard, row: Row) -> tuple[str, ...]:
    score = row.score
    others = (row.results.get(protocol.name) for protocol in OTHERS)
    ends = ", ".join(f"{end} {count}" for end, count in score.ends.items())
    # Versions are shown in full, commits by their first digits.
    commit = row.commit if len(row.commit) < 20 else row.commit[:_HEX_DIGITS]
    return (
        row.level,
        percent(score),
        _interval(score),
        *("" if result is None else percent(result) for result in others),
        str(board.files_measured(row.level)),
        short(row.steps),
        f"{row.minutes:.1f}",
        str(row.seed),
        commit,
        row.sha256[:_HEX_DIGITS],
        ends,
    )


def percent(result: Result) -> str:
    """A clear rate; with many episodes one decimal, so that 359 of 400 is not shown as 90 %."""
    digits = 1 if result.episodes > _WHOLE_PERCENT else 0
    return f"{result.clear_rate:.{digits}%}"


def _interval(result: Result) -> str:
    return f"{result.interval.low:.0%}-{result.interval.high:.0%}"
