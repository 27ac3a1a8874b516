"""The report of a campaign, or of a folder of policies with its scoreboard."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path

from warpzone.campaign.board_image import colour_of, ink_on
from warpzone.campaign.board_text import HEADINGS, how, score_line, table_rows
from warpzone.campaign.campaign import RUNS
from warpzone.campaign.scoreboard import Row, Scoreboard, all_levels, read_board
from warpzone.campaign.state import STATE_FILE
from warpzone.errors import WarpzoneError
from warpzone.report.charts import Rows, draw_charts, draw_sparkline
from warpzone.report.logs import hints_of
from warpzone.report.page import Section, data_uri, folded, make_page
from warpzone.report.strips import STRIP_KIND, frame_strip
from warpzone.runs.directory import CONFIG_FILE, RunDirectory
from warpzone.telemetry.jsonl import read_rows
from warpzone.telemetry.metrics import STEPS
from warpzone.telemetry.terminal import duration, short

Tell = Callable[[str], None]


def report_campaign(folder: Path, videos: bool = True, tell: Tell | None = None) -> str:
    """Makes the page of a campaign.

    Args:
        folder: Has a scoreboard.
        videos: Film an episode of each level.
        tell: Called with what is being done.

    Raises:
        ScoreboardError: There is no scoreboard.
    """
    board = read_board(folder)
    runs = _runs(folder)
    cards = [
        _card(
            level,
            board.rows.get(level),
            _picture(folder, board.rows.get(level), videos, tell),
            read_rows(runs[level].metrics) if level in runs else [],
        )
        for level in all_levels()
        if level in board.rows or level in runs
    ]
    sections = [
        Section("Levels", _tiles(board), f"Clear rate: {how(board)}."),
        Section(
            "How each is played", f'<div class="cards">{"".join(cards)}</div>' if cards else ""
        ),
        Section("Scoreboard", _table(board), "Steps and minutes are those of the training."),
        Section("Learning curves", _folded_by_run(runs, _curves), "A click opens a run."),
        Section("Hints and warnings", _folded_by_run(runs, lambda run: hints_of(run.log))),
        Section("Configuration", _config(folder)),
    ]
    return make_page(
        board.summary.replace(">=", "≥"), f"campaign in {folder}", _facts(board, runs), sections
    )


def _runs(folder: Path) -> dict[str, RunDirectory]:
    """The runs of a campaign by name."""
    place = folder / RUNS
    found = sorted(place.iterdir()) if place.is_dir() else []
    return {path.name: RunDirectory(path) for path in found if (path / CONFIG_FILE).is_file()}


def _facts(board: Scoreboard, runs: dict[str, RunDirectory]) -> dict[str, str]:
    policies = {row.policy: row for row in board.rows.values()}.values()
    return {
        "levels at the goal": str(len(board.reached)),
        "levels trained": str(len(board.rows)),
        "policies": str(len(policies)),
        "steps of their training": short(sum(row.steps for row in policies)),
        "time of their training": duration(60 * sum(row.minutes for row in policies)),
        "runs": str(len(runs)),
    }


def _tiles(board: Scoreboard) -> str:
    """A row a stage, a column a world, as in the picture; narrow screens have a row a world."""
    levels = all_levels()
    order = sorted(levels, key=lambda level: level.partition("-")[::-1])
    tiles = [_tile(board.rows.get(level), level, levels.index(level)) for level in order]
    return f'<div class="tiles">{"".join(tiles)}</div>'


def _tile(row: Row | None, level: str, order: int) -> str:
    if row is None:
        words = f"<small>{level}</small><b>not trained</b>"
        return f'<div class="tile none" style="--order:{order}">{words}</div>'
    back = colour_of(row.score.clear_rate)
    style = f"background:rgb{back};color:rgb{ink_on(back)};--order:{order}"
    words = f"<small>{level}</small><b>{row.score.clear_rate:.0%}</b>"
    title = escape(score_line(row))
    return f'<a class="tile" href="#level-{level}" style="{style}" title="{title}">{words}</a>'


def _card(level: str, row: Row | None, picture: str, rows: Rows) -> str:
    rate = f"<span>{row.score.clear_rate:.0%}</span>" if row is not None else ""
    return (
        f'<article class="card" id="level-{level}">{picture}<div class="text">'
        f"<h3>{level}{rate}</h3><p>{escape(_words(row, rows))}</p>{draw_sparkline(rows)}"
        "</div></article>"
    )


def _picture(folder: Path, row: Row | None, videos: bool, tell: Tell | None) -> str:
    if row is None:
        return '<div class="blank">in training</div>'
    if not videos:
        return ""
    if tell is not None:
        tell(f"filming {row.level}")
    try:
        strip = frame_strip(folder / row.policy, row.level)
    except WarpzoneError as error:
        return f'<div class="blank">{escape(str(error))}</div>'
    source = data_uri(STRIP_KIND, strip)
    return f'<img src="{source}" alt="an episode of {row.level}">'


def _words(row: Row | None, rows: Rows) -> str:
    if row is None:
        return f"{short(rows[-1].get(STEPS) or 0)} steps so far" if rows else "just begun"
    return f"{short(row.steps)} steps, {duration(60 * row.minutes)}"


def _table(board: Scoreboard) -> str:
    head = "".join(f"<th>{escape(heading)}" for heading in HEADINGS)
    lines = []
    for level, cells in zip(all_levels(), table_rows(board), strict=True):
        kind = "reached" if board.reaches(level) else "" if level in board.rows else "none"
        line = "".join(f"<td>{escape(cell)}" for cell in cells)
        lines.append(f'<tr class="{kind}">{line}</tr>')
    return f'<div class="scroll"><table><tr>{head}</tr>{"".join(lines)}</table></div>'


def _folded_by_run(runs: dict[str, RunDirectory], content: Callable[[RunDirectory], str]) -> str:
    found = {name: content(run) for name, run in runs.items()}
    return "".join(
        f"<details><summary>{escape(name)}</summary>{html}</details>"
        for name, html in found.items()
        if html
    )


def _curves(run: RunDirectory) -> str:
    rows = read_rows(run.metrics)
    return draw_charts(rows) if rows else ""


def _config(folder: Path) -> str:
    try:
        return folded(STATE_FILE, (folder / STATE_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ""
