"""`warpzone bench env`: how fast it runs here, and what the other benchmarks share."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import tyro

if TYPE_CHECKING:
    from warpzone.bench.backends import BackendRow
    from warpzone.bench.env import RawRow, StepRow

T = TypeVar("T")


@dataclass(frozen=True)
class BenchEnv:
    """Measure agent steps and frames a second of this machine.

    Every combination of environments, threads and observations is played for a while: random
    actions that run to the right, frame skip 4, resets included. Python is the share of a step
    that is spent outside the native call. Figures move by some percent from run to run; close
    other programs.

    For example:
      warpzone bench env
      warpzone bench env --num-envs 16,64 --num-threads 1,2,4
      warpzone bench env --seconds 5 --json speed.json
      warpzone bench env --backends native,nes-py
    """

    num_envs: Annotated[str, tyro.conf.arg(metavar="N,...")] = ""
    """Numbers of environments; 1,16 by default, and 1,8,16 to compare backends."""
    num_threads: Annotated[str, tyro.conf.arg(metavar="N,...")] = "1,2"
    """Numbers of threads; more than there are environments are left out."""
    obs: Annotated[str, tyro.conf.arg(metavar="KIND,...")] = "pixels,tiles"
    """Observations: pixels, rgb, tiles."""
    backends: Annotated[str, tyro.conf.arg(metavar="NAME,...")] = ""
    """Compare backends instead: native, nes-py. Speed, start and memory of each; pixels."""
    seconds: float = 2.0
    """How long each is measured."""
    level: str = "1-1"
    """The level to play."""
    json: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Also write the figures and the machine to this file."""
    csv: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Also write the figures to this file."""
    game: Literal["smb", "lost-levels"] = "smb"
    """The game to play."""
    rom: Path | None = None
    """The game's image; by default WARPZONE_ROM, or the installed one."""

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
        if self.json is not None:
            bench_output.write_json(self.json, here, env=steps, console=raw)
            print(f"wrote {self.json}")
        if self.csv is not None:
            bench_output.write_csv(self.csv, steps)
            print(f"wrote {self.csv}")
        return 0

    def _plan(self) -> list[tuple[str, int, int]]:
        """Every (observation, environments, threads) to measure."""
        from warpzone.errors import ConfigError

        if not 0 < self.seconds <= 3600:
            raise ConfigError(f"--seconds is {self.seconds:g}; it must be above 0, at most 3600")
        kinds = [kind.strip() for kind in self.obs.split(",")]
        for kind in kinds:
            if kind not in ("pixels", "rgb", "tiles"):
                raise ConfigError(f"--obs {kind!r} does not exist; there are pixels, rgb, tiles")
        return [
            (kind, envs, threads)
            for kind in kinds
            for envs in numbers("--num-envs", self.num_envs or "1,16")
            for threads in numbers("--num-threads", self.num_threads)
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

    def _backend_plan(self) -> list[tuple[str, int]]:
        """Every (backend, environments) to compare; none unless backends are named."""
        from warpzone.envs.backends.machine import check_backend

        if not self.backends:
            return []
        names = [name.strip() for name in self.backends.split(",")]
        for name in names:
            check_backend(name)
        counts = numbers("--num-envs", self.num_envs or "1,8,16")
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


def numbers(option: str, text: str) -> list[int]:
    """Reads a list of whole numbers above 0."""
    from warpzone.errors import ConfigError

    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise ConfigError(f"{option} is {text!r}; it must be whole numbers above 0, such as 1,16")
    return [int(part) for part in parts]


def check_folders(*files: Path | None) -> None:
    """Fails before minutes are spent on figures that cannot be kept."""
    from warpzone.errors import ConfigError

    for file in files:
        if file is not None and not file.parent.is_dir():
            raise ConfigError(f"the folder {file.parent} does not exist; make it first")


def tracked(items: Sequence[T], title: str) -> Iterable[T]:
    """Shows on a terminal how many of the items are done."""
    from rich.console import Console
    from rich.progress import track

    screen = Console(stderr=True)
    return track(items, title, console=screen, transient=True, disable=not sys.stderr.isatty())
