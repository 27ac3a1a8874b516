"""`warpzone bench train`: measures training throughput."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpzone.commands.bench_shared import check_folders, csv_option, seconds_option
from warpzone.commands.tables import table_console
from warpzone.config.option import option

if TYPE_CHECKING:
    from warpzone.bench.train import TrainRow


@dataclass(frozen=True)
class BenchTrain:
    """Measure training throughput on this machine, in environment steps per second.

    The CPU preset is trained briefly with pixels and with tiles. If Stable-Baselines3 is installed,
    its PPO with CnnPolicy trains on the same environments (8 environments, 128 steps, minibatches
    of 256), and the ratios are printed. `python benchmarks/train_throughput.py` compares with the
    usual stack, gym-super-mario-bros in 8 processes.

    Examples:
      warpzone bench train
      warpzone bench train --seconds 30 --csv training.csv
    """

    seconds: float = seconds_option(10.0)
    level: str = option("1-1", "Level to train on.", metavar="LEVEL")
    rom: Path | None = option(
        None,
        "ROM file to play. By default, WARPZONE_ROM or the installed ROM is used.",
        metavar="FILE",
    )
    csv: Path | None = csv_option()

    def run(self) -> int:
        """Measures and prints the table."""
        from warpzone.bench.output import write_csv
        from warpzone.bench.train import has_sb3, measure_training

        check_folders(self.csv)
        rows = []
        for row in measure_training(self.level, self.seconds, self.rom):
            rows.append(row)
            print(f"{row.trainer}, {row.obs}: {row.steps_per_second:,.0f} steps/s", flush=True)
        if has_sb3():
            _print_ratios(rows)
        else:
            print("install stable-baselines3 to compare with its PPO")
        if self.csv is not None:
            write_csv(self.csv, rows)
            print(f"wrote {self.csv}")
        return 0


def _print_ratios(rows: list[TrainRow]) -> None:
    from rich.table import Table

    table = Table(title="training", title_justify="left")
    for heading in ("trainer", "obs", "envs", "steps/s", "times as fast"):
        table.add_column(heading, justify="left" if heading in ("trainer", "obs") else "right")
    peer = rows[-1].steps_per_second
    for row in rows:
        table.add_row(
            row.trainer,
            row.obs,
            str(row.num_envs),
            f"{row.steps_per_second:,.0f}",
            f"{row.steps_per_second / peer:.1f}",
        )
    table_console().print(table)
