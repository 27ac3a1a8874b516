"""The report of a campaign, or of a folder of policies with a scoreboard."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path

from warpzone.campaign.board_image import color_of, ink_on
from warpzone.campaign.board_json import read_board
from warpzone.campaign.board_text import HEADINGS, how, score_line, table_rows
from warpzone.campaign.scoreboard import Row, Scoreboard, all_levels
from warpzone.campaign.state import STATE_FILE
from warpzone.campaign.task_training import RUNS
from warpzone.errors import WarpzoneError
from warpzone.report.animation import animate_episode
from warpzone.report.charts import TOOLBAR, Rows, draw_charts, draw_sparkline
from warpzone.report.logs import hints_html
from warpzone.report.page import Section, collapsible, make_page, table_html, video_html
from warpzone.report.privacy import without_folders
from warpzone.runs.directory import CONFIG_FILE, RunDirectory
from warpzone.system.json_file import read_bytes
from warpzone.telemetry.metrics import STEPS
from warpzone.telemetry.reading import read_rows
from warpzone.telemetry.terminal import duration, short

_POINTS = 120  # Of each curve: pages have the curves of up to 32 runs.

OnProgress = Callable[[str], None]


def report_campaign(
    folder: Path, videos: bool = True, on_progress: OnProgress | None = None
) -> str:
    """Returns the HTML page of a campaign.

    Args:
        folder: Folder with a scoreboard.
        videos: Record an episode of each level.
        on_progress: Called with a message before each recording.

    Raises:
        ScoreboardError: If there is no scoreboard.
    """
    board = read_board(folder)
    runs = _runs(folder)
    cards = [
        _card(
            level,
            board.rows.get(level),
            _animation(folder, board.rows.get(level), videos, on_progress),
            read_rows(runs[level].metrics) if level in runs else [],
        )
        for level in all_levels()
        if level in board.rows or level in runs
    ]
    sections = [
        Section("Levels", _tiles(board), f"Clear rate: {how(board)}."),
        Section(
            "Example episodes" if videos else "Policies",
            f'<div class="cards">{"".join(cards)}</div>' if cards else "",
        ),
        Section("Scoreboard", _table(board), "Steps and minutes of training."),
        Section("Learning curves", _all_curves(runs), "Click a run to expand it."),
        Section("Hints and warnings", _collapsible_by_run(runs, lambda run: hints_html(run.log))),
        Section("Configuration", _config(folder)),
    ]
    return make_page(
        board.summary.replace(">=", "≥"),
        f"campaign {folder.resolve().name}",
        _facts(board, runs),
        sections,
    )


def _runs(folder: Path) -> dict[str, RunDirectory]:
    """Returns the runs of a campaign by name."""
    parent = folder / RUNS
    found = sorted(parent.iterdir()) if parent.is_dir() else []
    return {path.name: RunDirectory(path) for path in found if (path / CONFIG_FILE).is_file()}


def _facts(board: Scoreboard, runs: dict[str, RunDirectory]) -> dict[str, str]:
    policies = {row.policy: row for row in board.rows.values()}.values()
    return {
        "levels at the goal": str(len(board.reached)),
        "levels trained": str(len(board.rows)),
        "policies": str(len(policies)),
        "training steps": short(sum(row.steps for row in policies)),
        "training time": duration(60 * sum(row.minutes for row in policies)),
        "runs": str(len(runs)),
    }


def _tiles(board: Scoreboard) -> str:
    """One row per stage and one column per world; on narrow screens, one row per world."""
    levels = all_levels()
    order = sorted(levels, key=lambda level: level.partition("-")[::-1])
    tiles = [_tile(board.rows.get(level), level, levels.index(level)) for level in order]
    return f'<div class="tiles">{"".join(tiles)}</div>'


def _tile(row: Row | None, level: str, order: int) -> str:
    if row is None:
        text = f"<small>{level}</small><b>not trained</b>"
        return f'<div class="tile none" style="--order:{order}">{text}</div>'
    background = color_of(row.score.clear_rate)
    style = f"background:rgb{background};color:rgb{ink_on(background)};--order:{order}"
    text = f"<small>{level}</small><b>{row.score.clear_rate:.0%}</b>"
    title = escape(score_line(row))
    return f'<a class="tile" href="#level-{level}" style="{style}" title="{title}">{text}</a>'


def _card(level: str, row: Row | None, animation: str, rows: Rows) -> str:
    rate = f"<span>{row.score.clear_rate:.0%}</span>" if row is not None else ""
    return (
        f'<article class="card" id="level-{level}">{animation}<div class="text">'
        f"<h3>{level}{rate}</h3><p>{escape(_effort(row, rows))}</p>{draw_sparkline(rows)}"
        "</div></article>"
    )


def _animation(folder: Path, row: Row | None, videos: bool, on_progress: OnProgress | None) -> str:
    if row is None:
        return '<div class="blank">in training</div>'
    if not videos:
        return ""
    if on_progress is not None:
        on_progress(f"recording {row.level}")
    try:
        animation = animate_episode(folder / row.policy, row.level)
    except WarpzoneError as error:
        return f'<div class="blank">{escape(without_folders(str(error)))}</div>'
    return video_html(animation, f"an episode of {row.level}", autoplay=False)


def _effort(row: Row | None, rows: Rows) -> str:
    if row is None:
        return f"{short(rows[-1].get(STEPS) or 0)} steps so far" if rows else "just started"
    return f"{short(row.steps)} steps, {duration(60 * row.minutes)}"


def _table(board: Scoreboard) -> str:
    kinds = [
        "reached" if board.reaches(level) else "" if level in board.rows else "none"
        for level in all_levels()
    ]
    return table_html(HEADINGS, table_rows(board), kinds)


def _all_curves(runs: dict[str, RunDirectory]) -> str:
    curves = _collapsible_by_run(runs, _curves)
    return TOOLBAR + curves if curves else ""


def _collapsible_by_run(
    runs: dict[str, RunDirectory], content: Callable[[RunDirectory], str]
) -> str:
    found = {name: content(run) for name, run in runs.items()}
    return "".join(
        f"<details><summary>{escape(name)}</summary>{html}</details>"
        for name, html in found.items()
        if html
    )


def _curves(run: RunDirectory) -> str:
    rows = read_rows(run.metrics)
    return draw_charts(rows, _POINTS) if rows else ""


def _config(folder: Path) -> str:
    try:
        text = read_bytes(folder / STATE_FILE).decode(errors="replace")
        return collapsible(STATE_FILE, without_folders(text))
    except (FileNotFoundError, ValueError):
        return ""
