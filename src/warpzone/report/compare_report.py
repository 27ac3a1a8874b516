"""The comparison of runs as one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warpzone.report.charts import AXES, TOOLBAR, figures_html
from warpzone.report.compare_text import difference_rows
from warpzone.report.page import Section, make_page, table_html
from warpzone.report.privacy import without_folders
from warpzone.runs.comparison import ComparedRun, compared_curves
from warpzone.runs.listing import RunSummary
from warpzone.telemetry.metrics import find_metric
from warpzone.telemetry.terminal import duration

USUAL_METRICS = (
    "rollout/clear_rate",
    "episode/progress_p50",
    "episode/return_mean",
    "loss/policy",
    "loss/value",
    "learn/entropy",
    "learn/approx_kl",
    "speed/steps_per_second",
)
_POINTS = 400
_HEADINGS = ("run", "level", "seed", "state", "duration", "steps", "clear rate")
_SAME = '<p class="note">All options are the same.</p>'


def report_comparison(
    runs: Sequence[ComparedRun], summaries: Sequence[RunSummary], metrics: Sequence[str] = ()
) -> str:
    """Returns the HTML page of a comparison.

    Args:
        runs: Runs to compare.
        summaries: What each of them has achieved.
        metrics: Metrics to show first; the usual ones follow.
    """
    names = list(dict.fromkeys((*metrics, *USUAL_METRICS)))
    rows = [tuple(map(without_folders, row)) for row in difference_rows(runs)]
    overview = [_overview(*pair) for pair in zip(runs, summaries, strict=True)]
    labels = [run.label for run in runs]
    bands = (
        "Runs that differ only in their seed are drawn as their median, within a band from the "
        "lowest to the highest."
    )
    sections = [
        Section("Runs", table_html(_HEADINGS, overview)),
        Section("Curves", TOOLBAR + figures_html(_figure(runs, name) for name in names), bands),
        Section("Options that differ", table_html(("option", *labels), rows) if rows else _SAME),
    ]
    return make_page("Comparison of runs", ", ".join(labels), {}, sections)


def _overview(run: ComparedRun, summary: RunSummary) -> tuple[str, ...]:
    return (
        run.label,
        summary.level or "-",
        "-" if run.config is None else str(run.config.run.seed),
        summary.state,
        "-" if summary.elapsed is None else duration(summary.elapsed),
        f"{summary.steps:,}",
        "-" if summary.clear_rate is None else f"{summary.clear_rate:.0%}",
    )


def _figure(runs: Sequence[ComparedRun], metric: str) -> dict[str, Any]:
    by_axis = [compared_curves(runs, metric, axis=axis, points=_POINTS) for axis in AXES]
    curves = [
        {"label": found[0]["label"]}
        | {axis: _lists(curve) for axis, curve in zip(AXES, found, strict=True)}
        for found in zip(*by_axis, strict=True)
    ]
    known = find_metric(metric)
    return {"title": metric, "is_rate": known is not None and known.unit == "fraction"} | {
        "curves": curves
    }


def _lists(curve: dict[str, Any]) -> dict[str, Any]:
    return {name: curve[name] for name in ("x", "y", "low", "high") if name in curve}
