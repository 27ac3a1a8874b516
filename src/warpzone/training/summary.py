"""Lines that are printed at the end of a session."""

from __future__ import annotations

from warpzone.runs.directory import RunDirectory
from warpzone.runs.listing import summarize_run
from warpzone.system.signals import StopRequest
from warpzone.telemetry.terminal import duration


def end_line(run: RunDirectory, stop: StopRequest) -> str:
    """Returns how the session ended, the run's results and its folder."""
    summary = summarize_run(run.path)
    ended = f"stopped by {stop.reason}" if stop else "finished"
    rate = "-" if summary.clear_rate is None else f"{summary.clear_rate:.0%}"
    time = "" if summary.elapsed is None else f" in {duration(summary.elapsed)}"
    return (
        f"{ended}: clear rate {rate}, {summary.steps:,} steps and {summary.updates:,} updates"
        f"{time}; all files are in {run.path}"
    )


def next_line(run: RunDirectory, stop: StopRequest) -> str:
    """Returns the command that most users want next."""
    if stop:
        return f"resume with: warpzone train --resume {run.path}"
    return f"evaluate with: warpzone eval {run.path}"
