"""`warpzone runs` and `warpzone video`: looking at what was trained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from warpzone.commands.tables import table_console

if TYPE_CHECKING:
    from warpzone.runs.show import CheckpointContent


@dataclass(frozen=True)
class Runs:
    """List the runs below a folder: level, steps, clear rate, state.

    For example:
      warpzone runs
      warpzone runs elsewhere/
      warpzone runs show runs/mario-1-1   # what its latest checkpoint holds
    """

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")] = Path("runs")
    """Where to look."""

    def run(self) -> int:
        """Prints the table."""
        from rich.table import Table

        from warpzone.runs.listing import list_runs

        found = list_runs(self.folder)
        if not found:
            print(f"no runs below {self.folder}; `warpzone train` makes one")
            return 0
        table = Table()
        for title in ("run", "level", "steps", "clear rate", "state"):
            table.add_column(title, justify="right" if title in ("steps", "clear rate") else "left")
        for run in found:
            rate = "-" if run.clear_rate is None else f"{run.clear_rate:.0%}"
            table.add_row(str(run.path), run.level or "-", f"{run.steps:,}", rate, run.state)
        table_console().print(table)
        for run in found:
            for damage in run.damages:
                print(f"warning: {damage}")
        return 0


@dataclass(frozen=True)
class RunsShow:
    """Say what a checkpoint holds: steps, parameters, clear rate, versions, sizes, configuration.

    For example:
      warpzone runs show runs/mario-1-1
      warpzone runs show runs/mario-1-1/checkpoints/update-00000042.pt
    """

    run_path: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """A run's folder, for its latest checkpoint, or a checkpoint."""

    def run(self) -> int:
        """Prints what is known."""
        from rich.table import Table

        from warpzone.config.io import tree_to_toml
        from warpzone.runs.show import checkpoint_lines, look_into

        content = look_into(self.run_path)
        screen = table_console()
        facts = Table.grid(padding=(0, 2))
        for name, value in _facts(content):
            facts.add_row(f"[bold]{name}", value)
        screen.print(facts)
        others = Table("checkpoint", "steps", "clear rate", "size", "")
        for line in checkpoint_lines(self.run_path):
            steps = "unreadable" if line.steps is None else f"{line.steps:,}"
            rate = "-" if line.clear_rate is None else f"{line.clear_rate:.0%}"
            others.add_row(line.path.name, steps, rate, _size(line.size), ", ".join(line.marks))
        screen.print(others)
        screen.print(tree_to_toml(content.meta.config), markup=False, end="")
        return 0


def _facts(content: CheckpointContent) -> Iterator[tuple[str, str]]:
    meta = content.meta
    run = content.run
    rate = "-" if run.clear_rate is None else f"{run.clear_rate:.0%}"
    yield "run", f"{run.state}, {run.steps:,} steps, {run.updates:,} updates, clear rate {rate}"
    marks = f" ({', '.join(content.marks)})" if content.marks else ""
    yield "checkpoint", f"{content.path}{marks}"
    yield "written", f"{meta.created}, number {meta.serial} of the run"
    yield "done", f"{meta.steps:,} steps, {meta.updates:,} updates"
    for name, value in meta.extra.items():
        shown = f"{value:.0%}" if name == "clear_rate" else str(value)
        yield name.replace("_", " "), shown
    parts = ", ".join(f"{name} {count:,}" for name, count in content.parameters.items())
    yield "parameters", f"{sum(content.parameters.values()):,}: {parts}"
    yield "compiled", "yes" if content.compiled else "no"
    yield "versions", ", ".join(f"{name} {version}" for name, version in meta.versions.items())
    largest = sorted(content.sizes.items(), key=lambda item: -item[1])
    sizes = ", ".join(f"{name} {_size(size)}" for name, size in largest if size)
    yield "size", f"{_size(content.size)}: {sizes}"
    agrees = "agrees with the file" if content.sidecar == "whole" else "made again from the file"
    yield "side-car", f"{content.sidecar}, {agrees}"


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} GiB"


@dataclass(frozen=True)
class Video:
    """Film an episode of a trained policy, or a way that `warpzone solve` found.

    For example:
      warpzone video runs/mario-1-1 -o run.mp4
      warpzone video runs/mario-1-1 --level 1-2 --seed 3 -o run.gif
      warpzone video runs/mario-1-1 --contact-sheet -o lanes.mp4
      warpzone video runs/mario-1-1 --contact-sheet --lanes 36 -o ends.png
      warpzone video policies/ --level 1-2 -o 1-2.mp4
      warpzone video solutions/8-4.solution -o 8-4.mp4
    """

    run_path: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """A run's folder, one of its checkpoints, a policy file, a folder of those (--level chooses
    one), or a .solution file, which fixes level and inputs."""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="FILE")] = Path("run.mp4")
    """The file to write: .mp4 or .gif; a contact sheet can also be a .png."""
    level: str | None = None
    """Another level than the run's own."""
    seed: int = 0
    """Of the episode; the first of up to ten that clears is taken, from this seed on."""
    greedy: bool = False
    """Always take the most likely action instead of drawing one."""
    contact_sheet: bool = False
    """Show many lanes side by side, an episode each; their edges tell how they ended."""
    lanes: int = 16
    """How many lanes a contact sheet has."""

    def run(self) -> int:
        """Films."""
        if self.run_path.suffix == ".solution":
            return self._record_solution()
        if self.contact_sheet:
            from warpzone.video.contact_sheet import record_contact_sheet

            path = record_contact_sheet(
                self.run_path,
                self.output,
                num_envs=self.lanes,
                level=self.level,
                seed=self.seed,
                greedy=self.greedy,
            )
            print(f"wrote {path}")
            return 0
        from warpzone.video.policy_video import record_policy

        path = record_policy(
            self.run_path, self.output, level=self.level, seed=self.seed, greedy=self.greedy
        )
        print(f"wrote {path}")
        return 0

    def _record_solution(self) -> int:
        from warpzone.errors import ConfigError
        from warpzone.search.solution import read_solution
        from warpzone.video.solution_video import record_solution

        if self.level is not None or self.seed != 0 or self.greedy or self.contact_sheet:
            raise ConfigError(
                "a way is always the same; leave out --level, --seed, --greedy and --contact-sheet"
            )
        solution = read_solution(self.run_path)
        outcome = record_solution(solution, self.output)
        print(f"{solution.level}: {outcome}")
        print(f"wrote {self.output}")
        return 0
