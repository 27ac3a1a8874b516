"""The report of a single run, whether finished or still training."""

from __future__ import annotations

import logging
from html import escape
from pathlib import Path
from typing import Any

from warpzone.config import TrainConfig
from warpzone.errors import RunError, WarpzoneError
from warpzone.report.animation import animate_episode
from warpzone.report.charts import TOOLBAR, Rows, draw_charts
from warpzone.report.logs import damages_html, hints_html, tail_html
from warpzone.report.page import Section, collapsible, make_page, table_html, video_html
from warpzone.report.privacy import without_folders
from warpzone.runs.checkpoint_store import list_checkpoints
from warpzone.runs.comparison import option_differences
from warpzone.runs.directory import RunDirectory
from warpzone.runs.levels import trained_levels
from warpzone.runs.listing import RunSummary, summarize_run
from warpzone.runs.saved_config import saved_config
from warpzone.system.json_file import read_json
from warpzone.telemetry.reading import finite, read_rows, warn_of_damage
from warpzone.telemetry.terminal import duration, short

_log = logging.getLogger(__name__)

_MAX_VIDEO_BYTES = 16 << 20


def report_run(path: Path, videos: bool = True) -> str:
    """Returns the HTML page of a run.

    Args:
        path: The run directory.
        videos: Record an episode if the run has no video yet.

    Raises:
        RunError: If `path` is not a run, or the run has no metrics yet.
    """
    run = RunDirectory.open(path)
    damages: list[str] = []

    def on_damage(file: Path, reason: str) -> None:
        warn_of_damage(file, reason)
        damages.append(f"{file.name} is damaged: {reason}")

    rows = read_rows(run.metrics, on_damage)
    if not rows:
        raise RunError(
            f"{path} has no metrics yet; a run writes its first metrics after a few updates"
        )
    config = saved_config(path)
    summary = summarize_run(path)
    levels = trained_levels(config.env)
    sections = [
        Section("Evaluation", _evaluation(run)),
        Section("Video", _video_or_animation(run, levels[0]) if videos else _video(run)),
        Section("Learning curves", TOOLBAR + draw_charts(rows)),
        Section("Hints and warnings", damages_html(damages) + hints_html(run.log)),
        Section("Configuration", _configuration(run, config)),
        Section("Log", tail_html(run.log)),
    ]
    about = f"{config.env.level}, {config.env.obs}, {config.learn.algo}, {summary.state}"
    facts = _facts(rows, summary, config.run.steps, config.run.seed)
    return make_page(run.name, about, facts, sections)


def _facts(rows: Rows, summary: RunSummary, steps: int, seed: int) -> dict[str, str]:
    facts = {
        "steps": f"{summary.steps:,} of {steps:,}",
        "updates": f"{summary.updates:,}",
        "clear rate in training": _newest(rows, "rollout/clear_rate", lambda rate: f"{rate:.0%}"),
        "best distance": _newest(
            rows, "episode/progress_best", lambda distance: f"{distance:,.0f} px"
        ),
        "episodes": _newest(rows, "run/episodes", short),
        "time": _newest(rows, "run/elapsed", duration),
        "speed": _newest(rows, "speed/steps_per_second", lambda speed: f"{short(speed)}/s"),
        "seed": str(seed),
    }
    return {name: value for name, value in facts.items() if value}


def _newest(rows: Rows, metric: str, write: Any) -> str:
    for row in reversed(rows):
        value = finite(row, metric)
        if value is not None:
            return str(write(value))
    return ""


def _evaluation(run: RunDirectory) -> str:
    try:
        results = read_json(run.path / "evaluation.json")
        lines = [_evaluated(row) for row in results["levels"]]
        note = (
            f"{results['levels'][0]['episodes']} episodes of {results['checkpoint']} from the "
            f"start of the level, with sticky actions (probability {results['sticky_prob']} per "
            f"{results['sticky']}) and up to {results['noop_max']} no-op frames."
        )
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError):
        command = f"warpzone eval {run.name}"
        return f'<p class="note">Not evaluated yet; run <code>{escape(command)}</code>.</p>'
    heads = ("level", "clear rate", "95 % interval", "mean progress", "ends")
    return f'<p class="note">{escape(note)}</p>{table_html(heads, lines)}'


def _evaluated(row: dict[str, Any]) -> tuple[str, ...]:
    ends = ", ".join(f"{end} {count}" for end, count in row["ends"].items())
    return (
        str(row["level"]),
        f"{row['clear_rate']:.0%}",
        f"{row['interval_low']:.0%}-{row['interval_high']:.0%}",
        f"{row['progress_mean']:,.0f} px",
        ends,
    )


def _configuration(run: RunDirectory, config: TrainConfig) -> str:
    """Returns what is not as by default, and the whole file."""
    changed = option_differences([TrainConfig(), config])
    rows = [(row.option, *(without_folders(str(value)) for value in row.values)) for row in changed]
    table = table_html(("option", "default", "this run"), rows) if rows else ""
    return table + collapsible("config.toml", without_folders(run.read_config()))


def _video_or_animation(run: RunDirectory, level: str) -> str:
    """Returns the run's newest video, or an animation of its current policy."""
    video = _video(run)
    if video or not list_checkpoints(run.path):
        return video
    try:
        animation = animate_episode(run.path, level, shrink=1)
    except WarpzoneError as error:
        _log.warning("could not record %s: %s", run.path, error)
        return ""
    return video_html(animation, f"an episode of {level}", autoplay=True)


def _video(run: RunDirectory) -> str:
    videos = [path for path in run.videos.glob("*.mp4") if not path.name.startswith(".")]
    if not videos:
        return ""
    newest = max(videos, key=lambda path: path.stat().st_mtime)
    if newest.stat().st_size > _MAX_VIDEO_BYTES:
        note = f"{newest.name} is too large to embed; find it among the videos of the run."
        return f'<p class="note">{escape(note)}</p>'
    return video_html(newest.read_bytes(), newest.name, autoplay=True)
