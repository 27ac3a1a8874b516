"""The report of a sweep, whether finished or still running."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from warpzone.report.page import Section, make_page, table_html
from warpzone.report.privacy import without_folders
from warpzone.report.sweep_charts import Value, draw_best, draw_importance, draw_parallel
from warpzone.sweep.overview import Overview, read_overview
from warpzone.sweep.show import note_text, parameter_text, state_text, value_text, values_text
from warpzone.sweep.space import Range


def report_sweep(path: Path) -> str:
    """Returns the HTML page of a sweep.

    Raises:
        SweepError: The folder is not a sweep, or is damaged.
    """
    overview = read_overview(path)
    options = overview.plan.options
    sections = [
        Section("The configuration to copy", _configurations(overview)),
        Section(
            "How it was found",
            _grid(
                draw_best(
                    overview.best_so_far(), lambda value: value_text(value, options.objectives[0])
                ),
                draw_importance(overview.importance),
            ),
            "Hours of training are summed over all trials, including pruned ones. Importance is "
            "estimated by PED-ANOVA for the first objective.",
        ),
        Section("Parallel coordinates", _parallel(overview)),
        Section("Trials", _trials(overview)),
    ]
    facts = {
        "trials": f"{len(overview.trials)} of {options.trials}",
        "finished": str(overview.count("COMPLETE")),
        "pruned": str(overview.count("PRUNED")),
        "failed": str(overview.count("FAIL")),
        "runs per trial": str(options.seeds),
        "best": values_text(overview.best[0], options) if overview.best else "-",
    }
    level = overview.plan.explicit.get("env", {}).get("level", "1-1")
    about = f"{level}, {options.objective}, {options.sampler}, preset {overview.plan.preset}"
    return make_page(f"Sweep {path.name}", about, facts, sections)


def _configurations(overview: Overview) -> str:
    parts = []
    for trial in overview.best:
        values = values_text(trial, overview.plan.options)
        parts.append(
            f"<p>Trial {trial.number}: {escape(values)}. "
            f"<code>{escape(without_folders(overview.command(trial)))}</code></p>"
            f"<pre>{escape(overview.toml(trial))}</pre>"
        )
    return "".join(parts) or '<p class="note">No trial has finished yet.</p>'


def _parallel(overview: Overview) -> str:
    finished = overview.finished
    axes: dict[str, Sequence[Value]] = {
        dimension.name: [_value(trial.params[dimension.name]) for trial in finished]
        for dimension in overview.plan.space
    }
    for index, objective in enumerate(overview.plan.options.objectives):
        axes[objective] = [trial.values[index] for trial in finished]
    logarithmic = [
        item.name for item in overview.plan.space if isinstance(item, Range) and item.log
    ]
    numbers = [trial.number for trial in finished]
    best = [numbers.index(trial.number) for trial in overview.best]
    return draw_parallel(axes, logarithmic, best)


def _value(parameter: object) -> Value:
    return parameter if isinstance(parameter, int | float) else str(parameter)


def _trials(overview: Overview) -> str:
    names = [dimension.name for dimension in overview.plan.space]
    heads = ("trial", "state", "result", *names, "note")
    rows = [
        (
            str(trial.number),
            state_text(trial),
            values_text(trial, overview.plan.options) or "-",
            *(
                parameter_text(trial.params[name]) if name in trial.params else "-"
                for name in names
            ),
            note_text(trial),
        )
        for trial in overview.ranked()
    ]
    return table_html(heads, rows)


def _grid(*figures: str) -> str:
    return f'<div class="charts">{"".join(figures)}</div>' if any(figures) else ""
