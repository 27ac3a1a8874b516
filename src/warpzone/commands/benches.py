"""`warpzone bench`: its subcommands together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import tyro

from warpzone.commands.bench import BenchEnv
from warpzone.commands.bench_learning import BenchOverlap, BenchReplay


@dataclass(frozen=True)
class Bench:
    """Measure how fast things run on this machine.

    For example:
      warpzone bench env
      warpzone bench replay
      warpzone bench overlap
    """

    command: (
        Annotated[BenchEnv, tyro.conf.subcommand("env")]
        | Annotated[BenchReplay, tyro.conf.subcommand("replay")]
        | Annotated[BenchOverlap, tyro.conf.subcommand("overlap")]
    )

    def run(self) -> int:
        """Runs the chosen subcommand."""
        return self.command.run()
