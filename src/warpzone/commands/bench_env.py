"""`warpzone bench env`: measures environment throughput."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpzone.commands.bench_shared import (
    check_folders,
    csv_option,
    numbers,
    seconds_option,
    tracked,
)
from warpzone.config.environment import Game
from warpzone.config.option import option

if TYPE_CHECKING:
    from warpzone.bench.backends import BackendRow
    from warpzone.bench.env import RawRow, StepRow

_MAX_ENVS, _MAX_THREADS = 4096, 1024


@dataclass(frozen=True)
class BenchEnv:
    """Measure agent steps and frames per second on this machine.

    Every combination of environments, threads and observations is measured with random actions
    that run to the right, at frame skip 4, including resets. "Python" is the fraction of a step
    spent outside the native call. If stable-retro is installed, it is measured the same way and
    the ratio is printed. Results vary by a few percent from run to run; close other programs.

    Examples:
      warpzone bench env
      warpzone bench env --num-envs 16,64 --num-threads 1,2,4
      warpzone bench env --seconds 5 --json speed.json
      warpzone bench env --backends native,nes-py
    """

    num_envs: str = option(
        "",
        "Numbers of environments; by default 1,16, or 1,8,16 with --backends.",
        metavar="N,...",
    )
    num_threads: str = option(
        "1,2",
        "Numbers of threads; combinations with more threads than environments are skipped.",
        metavar="N,...",
    )
    obs: str = option("pixels,tiles", "Observations: pixels, rgb, tiles.", metavar="KIND,...")
    backends: str = option(
        "",
        "Compare these backends (native, nes-py) instead: throughput, start-up time and memory.",
        metavar="NAME,...",
    )
    seconds: float = seconds_option(2.0)
    level: str = option("1-1", "Level to play.", metavar="LEVEL")
    peers: bool = option(
        True,
        "Also measure stable-retro if it is installed.",
        off="Do not measure stable-retro, even if it is installed.",
    )
    json: Path | None = option(
        None, "Also write the results and the machine's details to this JSON file.", metavar="FILE"
    )
    csv: Path | None = csv_option()
    game: Game = option("smb", "Super Mario Bros. or The Lost Levels.")
    rom: Path | None = option(
        None,
        "ROM file to play. By default, WARPZONE_ROM or the installed ROM is used.",
        metavar="FILE",
    )

    def run(self) -> int:
        """Measures and prints the tables."""
        from warpzone.bench import output as bench_output
        from warpzone.bench.machine import machine_info

        check_folders(self.json, self.csv)
        plan = self._plan()
        backends = self._backend_plan()
        here = machine_info()
        print(", ".join(f"{name} {value}" for name, value in here.items()))
        if backends:
            return self._compare(backends, here)
        raw, steps = self._measure(plan)
        bench_output.print_tables(steps, raw)
        if self.peers and self.game == "smb":
            self._print_retro(steps)
        if self.json is not None:
            bench_output.write_json(self.json, here, env=steps, console=raw)
            print(f"wrote {self.json}")
        if self.csv is not None:
            bench_output.write_csv(self.csv, steps)
            print(f"wrote {self.csv}")
        return 0

    def _plan(self) -> list[tuple[str, int, int]]:
        """Returns every (observation, environments, threads) to measure."""
        from warpzone.errors import ConfigError

        kinds = [kind.strip() for kind in self.obs.split(",")]
        for kind in kinds:
            if kind not in ("pixels", "rgb", "tiles"):
                raise ConfigError(f"--obs contains {kind!r}; choose from pixels, rgb and tiles")
        return [
            (kind, envs, threads)
            for kind in kinds
            for envs in numbers("--num-envs", self.num_envs or "1,16", _MAX_ENVS)
            for threads in numbers("--num-threads", self.num_threads, _MAX_THREADS)
            if threads <= envs
        ]

    def _measure(self, plan: list[tuple[str, int, int]]) -> tuple[list[RawRow], list[StepRow]]:
        from warpzone.bench.env import measure_raw, measure_steps

        raw = [
            measure_raw(self.level, drawn, self.seconds, self.rom, self.game)
            for drawn in tracked((False, True), "console")
        ]
        steps = [
            measure_steps(
                self.level, kind, envs, threads, self.seconds, rom=self.rom, game=self.game
            )
            for kind, envs, threads in tracked(plan, "environments")
        ]
        return raw, steps

    def _print_retro(self, steps: list[StepRow]) -> None:
        """Compares one environment with stable-retro on 1-1, if stable-retro is installed."""
        from warpzone.bench.rivals import retro_steps_per_second

        ours = [row for row in steps if (row.obs, row.num_envs) == ("pixels", 1)]
        rate = retro_steps_per_second(self.seconds, self.rom) if ours else None
        if rate is not None:
            ratio = ours[0].steps_per_second / rate
            print(f"stable-retro, pixels, 1 env: {rate:,.0f} agent steps/s; ours {ratio:.1f} x")

    def _backend_plan(self) -> list[tuple[str, int]]:
        """Returns every (backend, environments) to compare; empty without --backends."""
        from warpzone.envs.backends.machine import check_backend

        if not self.backends:
            return []
        names = [name.strip() for name in self.backends.split(",")]
        for name in names:
            check_backend(name)
        counts = numbers("--num-envs", self.num_envs or "1,8,16", _MAX_ENVS)
        return [(name, count) for count in counts for name in names]

    def _compare(self, plan: list[tuple[str, int]], here: dict[str, str]) -> int:
        from warpzone.bench import output as bench_output
        from warpzone.bench.backends import measure_backend

        rows: list[BackendRow] = [
            measure_backend(backend, envs, self.seconds, self.level)
            for backend, envs in tracked(plan, "backends")
        ]
        bench_output.print_backends(rows, self.level)
        if self.json is not None:
            bench_output.write_json(self.json, here, backends=rows)
            print(f"wrote {self.json}")
        if self.csv is not None:
            bench_output.write_csv(self.csv, rows)
            print(f"wrote {self.csv}")
        return 0
