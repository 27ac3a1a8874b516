"""`warpzone bench replay`: measures how fast replay is sampled."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from warpzone.commands.bench_shared import check_folders, csv_option, seconds_option
from warpzone.commands.tables import table_console
from warpzone.config.option import option


@dataclass(frozen=True)
class BenchReplay:
    """Measure how fast transitions are sampled in proportion to their priorities.

    The samplers take turns; ratios are relative to NumPy's `random.choice` with probabilities.

    Examples:
      warpzone bench replay
      warpzone bench replay --capacity 1M --batch-size 512 --csv draws.csv
    """

    capacity: int = option(
        200_000, "Transitions to sample from.", at_least=1, at_most=100_000_000, metavar="N"
    )
    batch_size: int = option(
        256, "Transitions per sample.", at_least=1, at_most=1_048_576, metavar="N"
    )
    seconds: float = seconds_option(2.0)
    device: str = option(
        "cpu", "Device that torch samples on: cpu, cuda, or mps.", metavar="DEVICE"
    )
    csv: Path | None = csv_option()

    def run(self) -> int:
        """Measures and prints the table."""
        import torch
        from rich.table import Table

        from warpzone.bench.output import write_csv
        from warpzone.bench.replay import measure_sampling
        from warpzone.errors import ConfigError

        check_folders(self.csv)
        try:
            device = torch.device(self.device)
            torch.zeros(1, device=device)
        except (RuntimeError, AssertionError) as error:
            raise ConfigError(f"--device {self.device} is not usable here: {error}") from error
        rows = measure_sampling(self.capacity, self.batch_size, self.seconds, device)
        title = f"sampling {self.batch_size} of {self.capacity:,}"
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
