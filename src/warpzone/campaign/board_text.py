"""The scoreboard as Markdown and as rows of a table."""

from __future__ import annotations

from pathlib import Path

from warpzone.campaign.scoreboard import CONDITIONS, Result, Row, Scoreboard, all_levels
from warpzone.system.atomic_file import write_text_atomically
from warpzone.telemetry.terminal import short

HEADINGS = (
    "level",
    "clear rate",
    "95 % interval",
    "no stickiness",
    "greedy",
    "steps",
    "minutes",
    "seed",
    "commit",
    "sha256",
    "ends",
)
_HEX_DIGITS = 10


def table_rows(board: Scoreboard) -> list[tuple[str, ...]]:
    """One line per level, with one cell per heading."""
    blank = ("",) * (len(HEADINGS) - 2)
    return [
        _cells(board.rows[level]) if level in board.rows else (level, "not trained", *blank)
        for level in all_levels()
    ]


def how(board: Scoreboard) -> str:
    """One sentence on how the numbers were measured."""
    measuring = board.measuring
    return (
        f"{measuring.episodes} episodes each from the level's start, sampled actions, sticky "
        f"actions ({measuring.sticky_prob:g} per frame), up to {measuring.noop_max} idle frames, "
        f"seeds from {measuring.seed:,}"
    )


def to_markdown(board: Scoreboard) -> str:
    """The whole scoreboard as a page."""
    lines = [f"**{board.summary}** ({how(board)}).", ""]
    lines.append(f"| {' | '.join(HEADINGS)} |")
    lines.append("|" + "---|" * len(HEADINGS))
    for level, cells in zip(all_levels(), table_rows(board), strict=True):
        marked = f"**{cells[1]}**" if board.reaches(level) else cells[1]
        lines.append(f"| {' | '.join((cells[0], marked, *cells[2:]))} |")
    lines += [
        "",
        "No stickiness: sticky actions are off. Greedy: the most likely action, with sticky "
        "actions. Steps and minutes are those of the training, ends those of the episodes behind "
        "the clear rate, and the hash is that of the policy's file. `warpzone scoreboard FOLDER "
        "--verify` plays all of it again.",
    ]
    return "\n".join(lines) + "\n"


def write_markdown(folder: Path, board: Scoreboard) -> Path:
    """Writes `scoreboard.md`."""
    path = folder / "scoreboard.md"
    write_text_atomically(path, to_markdown(board))
    return path


def score_line(row: Row) -> str:
    """One row as a sentence."""
    score = row.score
    return f"{_percent(score)} of {score.episodes} episodes clear ({_interval(score)})"


def _cells(row: Row) -> tuple[str, ...]:
    score, steady, greedy = (row.results[name] for name in CONDITIONS)
    ends = ", ".join(f"{end} {count}" for end, count in score.ends.items())
    # Versions are shown in full, commits by their first digits.
    commit = row.commit if len(row.commit) < 20 else row.commit[:_HEX_DIGITS]
    return (
        row.level,
        _percent(score),
        _interval(score),
        _percent(steady),
        _percent(greedy),
        short(row.steps),
        f"{row.minutes:.1f}",
        str(row.seed),
        commit,
        row.sha256[:_HEX_DIGITS],
        ends,
    )


def _percent(result: Result) -> str:
    return f"{result.clear_rate:.0%}"


def _interval(result: Result) -> str:
    return f"{result.interval.low:.0%}-{result.interval.high:.0%}"
