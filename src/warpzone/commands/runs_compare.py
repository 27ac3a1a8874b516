"""`warpzone runs compare`: overlaid curves of several runs, and the options that differ."""

from __future__ import annotations

import sys
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from warpzone.commands.tables import print_whole, table_console
from warpzone.config.option import option, positional

if TYPE_CHECKING:
    from rich.console import Console

    from warpzone.report.compare_text import MetricPlot
    from warpzone.runs.comparison import ComparedRun

_PIPE_WIDTH = 80
_HEIGHT = 13
_COLORS = ("red", "blue", "green", "magenta", "yellow", "cyan")


@dataclass(frozen=True)
class RunsCompare:
    """Compare runs: overlaid curves, options that differ, and bands over seeds.

    Runs that differ only in their seed become one curve: the median, within a band from the lowest
    to the highest of them. With --output, the same comparison is also written as one self-contained
    HTML page, with more metrics, zoom, smoothing and a time axis.

    Examples:
      warpzone runs compare mario-1-1 mario-1-1-2
      warpzone runs compare sweeps/a --metric episode/return_mean --metric learn/entropy
      warpzone runs compare seed-0 seed-1 seed-2 baseline --axis time -o compare.html
    """

    targets: tuple[Path, ...] = positional(
        MISSING,
        "Folders of runs or their names below runs/; a folder with several runs stands for all of "
        "them. Up to 16 runs.",
        metavar="RUN",
    )
    metrics: tuple[str, ...] = option(
        ("rollout/clear_rate",),
        "Metric to draw; give the option again for more. The page of --output has the usual ones "
        "besides.",
        flag="metric",
        metavar="NAME",
        repeated=True,
    )
    axis: Literal["steps", "time"] = option(
        "steps", "Horizontal axis of the curves: environment steps, or training time."
    )
    output: Path | None = option(
        None, "Also write the comparison as an HTML page.", short="-o", metavar="FILE"
    )

    def run(self) -> int:
        """Prints the comparison and writes the page."""
        from warpzone.report.compare_report import report_comparison
        from warpzone.report.compare_text import difference_rows, plot_metric
        from warpzone.report.page import check_page_name
        from warpzone.runs.comparison import check_metrics, find_compared_runs, read_compared_runs
        from warpzone.runs.listing import summarize_run
        from warpzone.system.atomic_file import write_text_atomically
        from warpzone.video.output import check_output

        if self.output is not None:
            check_page_name(self.output)
            check_output(self.output)
        paths = find_compared_runs(self.targets)
        runs = read_compared_runs(paths)
        check_metrics(runs, self.metrics)
        console = table_console()
        width = console.width if sys.stdout.isatty() else _PIPE_WIDTH
        for metric in self.metrics:
            plot = plot_metric(
                runs,
                metric,
                axis=self.axis,
                width=width,
                height=_HEIGHT,
                encoding=sys.stdout.encoding,
            )
            _print_plot(console, plot)
        _print_differences(console, runs, difference_rows(runs))
        if self.output is not None:
            summaries = [summarize_run(path) for path in paths]
            write_text_atomically(self.output, report_comparison(runs, summaries, self.metrics))
            print(f"wrote {self.output} ({self.output.stat().st_size / 1024:,.0f} KiB)")
        return 0


def _print_plot(console: Console, plot: MetricPlot) -> None:
    from rich.text import Text

    from warpzone.report.text_plot import MARKERS

    console.print(Text(plot.title, style="bold"))
    for line in plot.lines:
        drawn = Text(line)
        for column in range(plot.margin, len(line)):
            if line[column] in MARKERS:
                color = _COLORS[MARKERS.index(line[column]) % len(_COLORS)]
                drawn.stylize(color, column, column + 1)
        console.print(drawn, soft_wrap=True)
    for index, legend in enumerate(plot.legend):
        marker = Text(f"  {MARKERS[index]} ", style=_COLORS[index % len(_COLORS)])
        console.print(marker.append(legend, style="default"), soft_wrap=True)
    console.print()


def _print_differences(
    console: Console, runs: list[ComparedRun], rows: list[tuple[str, ...]]
) -> None:
    if not rows:
        console.print("All options are the same.")
        return
    console.print("Options that differ:")
    print_whole(console, ("option", *(run.label for run in runs)), rows)
