"""`warpzone report`: writes an HTML page about a run, a campaign or a sweep."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from pathlib import Path

from warpzone.commands.plugins import PluginOptions
from warpzone.config.option import option, positional


@dataclass(frozen=True)
class Report(PluginOptions):
    """Write one page about a run, a campaign or a sweep: curves, results, videos, configuration.

    The page is a single self-contained HTML file; it needs neither network access nor other files.
    It can be written while training is in progress.

    Examples:
      warpzone report mario-1-1 -o report.html         # a run below runs/
      warpzone report campaign/ -o report.html
      warpzone report sweeps/mario-1-1 -o sweep.html
      warpzone report policies/ --no-videos
    """

    path: Path = positional(
        MISSING,
        "Folder of a run or its name below runs/, folder of a campaign or a sweep, or a folder of "
        "policies with its scoreboard.",
        metavar="RUN",
    )
    output: Path = option(Path("report.html"), "Page to write.", short="-o", metavar="FILE")
    videos: bool = option(
        True,
        "Record an episode of each level of a campaign, or of a run that has no video.",
        off="Do not record episodes for the page. Recording takes a few seconds per level.",
    )

    def run(self) -> int:
        """Writes the page."""
        from warpzone.report.campaign_report import report_campaign
        from warpzone.report.page import check_page_name
        from warpzone.report.run_report import report_run
        from warpzone.report.sweep_report import report_sweep
        from warpzone.runs.directory import CONFIG_FILE
        from warpzone.runs.resume import named_run
        from warpzone.sweep.files import SWEEP_FILE
        from warpzone.system.atomic_file import write_text_atomically
        from warpzone.video.output import check_output

        check_page_name(self.output)
        check_output(self.output)
        path = named_run(self.path)
        if (path / CONFIG_FILE).is_file():
            page = report_run(path, self.videos)
        elif (path / SWEEP_FILE).exists():
            page = report_sweep(path)
        else:
            page = report_campaign(path, self.videos, lambda text: print(text, flush=True))
        write_text_atomically(self.output, page)
        print(f"wrote {self.output} ({self.output.stat().st_size / 1024:,.0f} KiB)")
        return 0
