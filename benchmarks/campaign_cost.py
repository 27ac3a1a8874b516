"""Prints what a campaign has cost: runs, environment steps and minutes, by kind of run.

Minutes of training are summed over the runs, so with --jobs 2 they are about twice the time that
passed. The time that passed is that from the start of the first run to the last row of the
scoreboard, with all checks and measurements, and with pauses of a campaign that was interrupted.

    python benchmarks/campaign_cost.py campaign/
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from warpzone.campaign.board_json import read_board
from warpzone.campaign.plan import tasks_of
from warpzone.campaign.state import asked_for
from warpzone.campaign.task_training import RUNS
from warpzone.runs.listing import list_runs
from warpzone.telemetry.terminal import duration, short

KINDS = {"train": "from scratch", "refine": "refined", "distill": "generalist"}


def main() -> None:
    """Prints a table of one campaign."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder of the campaign")
    folder = parser.parse_args().folder

    _, options = asked_for(folder)
    # A campaign that was continued with more rounds has a generalist for each number of rounds.
    kinds = {
        task.name: task.kind
        for rounds in range(1, options.rounds + 1)
        for task in tasks_of(replace(options, rounds=rounds))
    }
    runs, steps, seconds = (
        defaultdict[str, int](int),
        defaultdict[str, int](int),
        defaultdict[str, float](float),
    )
    began = float("inf")
    for run in list_runs(folder / RUNS):
        kind = KINDS[kinds[run.path.name]]
        for name in (kind, "all"):
            runs[name] += 1
            steps[name] += run.steps
            seconds[name] += run.elapsed or 0.0
        began = min(began, run.started or began)
    print("| runs | number | steps | minutes of training |\n|---|---|---|---|")
    for name in (*(kind for kind in KINDS.values() if kind in runs), "all"):
        print(f"| {name} | {runs[name]} | {short(steps[name])} | {seconds[name] / 60:.1f} |")

    board = read_board(folder)
    ended = max(datetime.fromisoformat(row.measured).timestamp() for row in board.rows.values())
    rates = [row.score.clears / row.score.episodes for row in board.rows.values()]
    print(
        f"\n{options.jobs} jobs; from the first step to the last row {duration(ended - began)}; "
        f"{len(rates)} levels, mean clear rate {sum(rates) / len(rates):.1%}, "
        f"{sum(rate >= 0.9 for rate in rates)} at 90 %"
    )


if __name__ == "__main__":
    main()
