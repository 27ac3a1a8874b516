"""Measures how long the search takes to solve all 32 levels on one core.

    python benchmarks/search.py --seeds 3
    python benchmarks/search.py --seeds 8 --frame-skip 1 --actions any --json search.json

CPU seconds are what counts: they hardly depend on the load of the machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from warpzone.bench.machine import machine_info
from warpzone.envs.setup import expand_levels
from warpzone.search.solve import SearchOptions, solve

BAR_SECONDS = 120
MAX_FRAMES = 50_000_000


@dataclass(frozen=True)
class Row:
    """Measurements of one search."""

    level: str
    seed: int
    solved: bool
    cpu_seconds: float
    wall_seconds: float
    frames: int
    cells: int
    memory: int
    solution_frames: int | None


def search_once(level: str, seed: int, options: SearchOptions) -> Row:
    """Runs one search."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = solve(level, seed, options)
    return Row(
        level,
        seed,
        result.solution is not None,
        time.process_time() - cpu,
        time.perf_counter() - wall,
        result.progress.frames,
        result.progress.cells,
        result.progress.memory,
        result.progress.solution_frames,
    )


def level_table(rows: list[Row]) -> str:
    """Returns a table with one row per level, aggregated over seeds."""
    lines = [
        "| level | solved | median s | max s | median frames | median solution | max memory |",
        "|---|---|---|---|---|---|---|",
    ]
    for level in dict.fromkeys(row.level for row in rows):
        mine = [row for row in rows if row.level == level]
        solutions = [row.solution_frames for row in mine if row.solution_frames is not None]
        lines.append(
            f"| {level} | {len(solutions)} of {len(mine)} "
            f"| {statistics.median(row.cpu_seconds for row in mine):.1f} "
            f"| {max(row.cpu_seconds for row in mine):.1f} "
            f"| {statistics.median(row.frames for row in mine):,.0f} "
            f"| {f'{statistics.median(solutions):,.0f}' if solutions else '-'} "
            f"| {max(row.memory for row in mine) / 2**20:.0f} MB |"
        )
    return "\n".join(lines)


def seed_table(rows: list[Row]) -> str:
    """Returns a table with one row per seed, and whether the bar is met."""
    lines = ["| seed | solved | CPU s | wall s | frames |", "|---|---|---|---|---|"]
    totals = []
    for seed in dict.fromkeys(row.seed for row in rows):
        mine = [row for row in rows if row.seed == seed]
        totals.append(sum(row.cpu_seconds for row in mine))
        lines.append(
            f"| {seed} | {sum(row.solved for row in mine)} of {len(mine)} | {totals[-1]:.1f} "
            f"| {sum(row.wall_seconds for row in mine):.1f} "
            f"| {sum(row.frames for row in mine):,} |"
        )
    met = all(row.solved for row in rows) and statistics.median(totals) <= BAR_SECONDS
    lines += [
        "",
        f"median {statistics.median(totals):.1f} CPU seconds (bar: all solved in at most "
        f"{BAR_SECONDS}): {'met' if met else 'NOT met'}",
    ]
    return "\n".join(lines)


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--levels", default="all")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--frame-skip", type=int, default=4)
    parser.add_argument("--actions", default="complex", help="an action set, or 'any'")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    options = SearchOptions(
        frame_skip=arguments.frame_skip,
        actions=None if arguments.actions == "any" else arguments.actions,
        # Limit frames instead of seconds, so that the load does not decide what is solved.
        frames=MAX_FRAMES,
        seconds=float("inf"),
    )
    rows: list[Row] = []
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
        for level in expand_levels(arguments.levels):
            rows.append(search_once(level, seed, options))
            done = rows[-1]
            print(
                f"seed {seed} {level}: {done.solution_frames or 'no solution'} in "
                f"{done.cpu_seconds:.1f} s",
                flush=True,
            )
    here = machine_info()
    print(f"\none of {here['cores']} cores of {here['cpu']}\n")
    print(level_table(rows))
    print()
    print(seed_table(rows))
    if arguments.json is not None:
        data = {"machine": here, "rows": [asdict(row) for row in rows]}
        arguments.json.write_text(json.dumps(data, indent=2) + "\n")


if __name__ == "__main__":
    main()
