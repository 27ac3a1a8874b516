"""`warpzone bench replay` and `bench overlap`: how fast parts of training run here."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from warpzone.commands.bench import check_folders, numbers, tracked
from warpzone.commands.tables import table_console

if TYPE_CHECKING:
    from warpzone.bench.overlap import OverlapRow


@dataclass(frozen=True)
class BenchReplay:
    """Measure how fast transitions are drawn by their priorities.

    The ways are measured in turns; the ratio is to NumPy's `random.choice` with probabilities.

    For example:
      warpzone bench replay
      warpzone bench replay --capacity 1000000 --batch 512 --csv draws.csv
    """

    capacity: int = 200_000
    """Transitions to draw from."""
    batch: int = 256
    """Draws at once."""
    seconds: float = 2.0
    """How long each way is measured."""
    device: str = "cpu"
    """Where torch draws: cpu, cuda, or mps."""
    csv: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Also write the figures to this file."""

    def run(self) -> int:
        """Measures and prints the table."""
        import torch
        from rich.table import Table

        from warpzone.bench.output import write_csv
        from warpzone.bench.replay import measure_sampling
        from warpzone.errors import ConfigError

        check_folders(self.csv)
        if self.capacity < 1 or self.batch < 1:
            raise ConfigError("--capacity and --batch must be above 0")
        try:
            device = torch.device(self.device)
            torch.zeros(1, device=device)
        except (RuntimeError, AssertionError) as error:
            raise ConfigError(f"--device {self.device} is not usable here: {error}") from error
        rows = measure_sampling(self.capacity, self.batch, self.seconds, device)
        title = f"drawing {self.batch} of {self.capacity:,}"
        table = Table(title=title, title_justify="left")
        for heading in ("method", "microseconds", "times as fast"):
            table.add_column(heading, justify="left" if heading == "method" else "right")
        for row in rows:
            table.add_row(row.method, f"{row.microseconds:,.1f}", f"{row.ratio:.1f}")
        table_console().print(table)
        if self.csv is not None:
            write_csv(self.csv, rows)
            print(f"wrote {self.csv}")
        return 0


@dataclass(frozen=True)
class BenchOverlap:
    """Measure what collecting while learning gains.

    One thread plays, one learns. For every number of games and steps a network is looked for whose
    learning takes as long as collecting, where overlap can gain the most; --hidden sets its width
    instead. Close other programs: both cores are needed.

    For example:
      warpzone bench overlap
      warpzone bench overlap --num-envs 8,16,32 --rollout 32,64,128 --csv overlap.csv
    """

    num_envs: Annotated[str, tyro.conf.arg(metavar="N,...")] = "8,16,32"
    """Numbers of games."""
    rollout: Annotated[str, tyro.conf.arg(metavar="N,...")] = "32,64,128"
    """Steps of each game between updates."""
    seconds: float = 10.0
    """How long each is measured."""
    obs: Literal["pixels", "tiles"] = "tiles"
    """Observations."""
    level: str = "1-1"
    """The level to play."""
    hidden: int = 0
    """Width of the network; 0 means as wide as it takes."""
    csv: Annotated[Path, tyro.conf.arg(metavar="FILE")] = Path("overlap.csv")
    """Where the figures go."""

    def run(self) -> int:
        """Measures, prints the table and writes the file."""
        # Set before torch starts its threads.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        from dataclasses import replace

        from warpzone.bench.output import write_csv
        from warpzone.bench.overlap import (
            balanced,
            measure_overlap,
            overlap_config,
        )

        check_folders(self.csv)
        plan = [
            (games, steps)
            for games in numbers("--num-envs", self.num_envs)
            for steps in numbers("--rollout", self.rollout)
        ]
        rows: list[OverlapRow] = []
        for games, steps in tracked(plan, "overlap"):
            config = overlap_config(games, steps, self.obs, self.level)
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
    headings = ("mode", "games", "rollout", "steps/s", "updates/s", "learner idle")
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
