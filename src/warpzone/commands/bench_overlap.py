"""`warpzone bench overlap`: measures the speedup from collecting while learning."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from warpzone.commands.bench_shared import check_folders, numbers, seconds_option, tracked
from warpzone.commands.tables import table_console
from warpzone.config.option import option

if TYPE_CHECKING:
    from warpzone.bench.overlap import OverlapRow

_MAX_COUNT = 4096


@dataclass(frozen=True)
class BenchOverlap:
    """Measure the speedup from collecting a rollout while learning from the previous one.

    One thread collects and one thread learns. For every number of environments and steps, the
    network is sized so that learning takes as long as collecting, where overlap gains most;
    --hidden sets a fixed width instead. Close other programs: two idle cores are needed.

    Examples:
      warpzone bench overlap
      warpzone bench overlap --num-envs 8,16,32 --rollout-steps 32,64,128 --csv overlap.csv
    """

    num_envs: str = option("8,16,32", "Numbers of environments.", metavar="N,...")
    rollout_steps: str = option(
        "32,64,128", "Steps per environment between updates.", metavar="N,..."
    )
    seconds: float = seconds_option(10.0)
    obs: Literal["pixels", "tiles"] = option("tiles", "Observation.")
    level: str = option("1-1", "Level to play.", metavar="LEVEL")
    hidden: int = option(
        0,
        "Width of the network; 0 means chosen automatically.",
        at_least=0,
        at_most=16_384,
        metavar="N",
    )
    csv: Path = option(Path("overlap.csv"), "CSV file to write the results to.", metavar="FILE")

    def run(self) -> int:
        """Measures, prints the table and writes the file."""
        # Set before torch starts its threads.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        from dataclasses import replace

        from warpzone.bench.output import write_csv
        from warpzone.bench.overlap import balanced, measure_overlap, overlap_config

        check_folders(self.csv)
        plan = [
            (envs, steps)
            for envs in numbers("--num-envs", self.num_envs, _MAX_COUNT)
            for steps in numbers("--rollout-steps", self.rollout_steps, _MAX_COUNT)
        ]
        rows: list[OverlapRow] = []
        for envs, steps in tracked(plan, "overlap"):
            config = overlap_config(envs, steps, self.obs, self.level)
            if self.hidden:
                config = replace(config, model=replace(config.model, hidden=self.hidden))
            else:
                config = balanced(config)
            rows += [
                measure_overlap(config, overlapped, self.seconds) for overlapped in (False, True)
            ]
            write_csv(self.csv, rows)
        _print(rows)
        print(f"wrote {self.csv}")
        return 0


def _print(rows: list[OverlapRow]) -> None:
    from rich.table import Table

    table = Table(title="serial and overlapped", title_justify="left")
    headings = ("mode", "envs", "rollout", "steps/s", "updates/s", "learner idle")
    for heading in (*headings, "collector idle", "hidden", "times as fast"):
        table.add_column(heading, justify="left" if heading == "mode" else "right")
    for index, row in enumerate(rows):
        base = rows[index - index % 2]
        table.add_row(
            row.mode,
            str(row.num_envs),
            str(row.rollout),
            f"{row.steps_per_second:,.0f}",
            f"{row.updates_per_second:.2f}",
            f"{row.learner_idle:.0%}",
            f"{row.collector_idle:.0%}",
            str(row.hidden),
            f"{row.steps_per_second / base.steps_per_second:.2f}",
        )
    table_console().print(table)
