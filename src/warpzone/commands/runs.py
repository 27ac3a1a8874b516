"""`warpzone runs` and `warpzone video`: looking at what was trained."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro


@dataclass(frozen=True)
class Runs:
    """List the runs below a folder: level, steps, clear rate, state.

    For example:
      warpzone runs
      warpzone runs elsewhere/
    """

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")] = Path("runs")
    """Where to look."""

    def run(self) -> int:
        """Prints the table."""
        from rich.console import Console
        from rich.table import Table

        from warpzone.train.run_list import list_runs

        found = list_runs(self.folder)
        if not found:
            print(f"no runs below {self.folder}; `warpzone train` makes one")
            return 0
        table = Table()
        for title in ("run", "level", "steps", "clear rate", "state"):
            table.add_column(title, justify="right" if title in ("steps", "clear rate") else "left")
        for run in found:
            rate = "-" if run.clear_rate is None else f"{run.clear_rate:.0%}"
            steps = "-" if run.steps is None else f"{run.steps:,}"
            table.add_row(str(run.path), run.level or "-", steps, rate, run.state)
        Console().print(table)
        return 0


@dataclass(frozen=True)
class Video:
    """Film an episode of a trained policy.

    For example:
      warpzone video runs/mario-1-1 -o run.mp4
      warpzone video runs/mario-1-1 --level 1-2 --seed 3 -o run.gif
    """

    run_path: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """A run's folder, or one of its checkpoints."""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="FILE")] = Path("run.mp4")
    """The file to write: .mp4 or .gif."""
    level: str | None = None
    """Another level than the run's own."""
    seed: int = 0
    """Of the episode; the first of up to ten that clears is taken, from this seed on."""
    greedy: bool = False
    """Always take the most likely action instead of drawing one."""

    def run(self) -> int:
        """Films."""
        from warpzone.evaluate.policy_film import film_policy

        path = film_policy(
            self.run_path, self.output, level=self.level, seed=self.seed, greedy=self.greedy
        )
        print(f"wrote {path}")
        return 0
