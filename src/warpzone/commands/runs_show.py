"""`warpzone runs show`: shows the contents of checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpzone.commands.tables import table_console
from warpzone.config.option import positional

if TYPE_CHECKING:
    from warpzone.runs.show import CheckpointContent


@dataclass(frozen=True)
class RunsShow:
    """Show a checkpoint: steps, parameters, clear rate, versions, sizes, configuration.

    Examples:
      warpzone runs show mario-1-1
      warpzone runs show runs/mario-1-1/checkpoints/update-00000042.pt
    """

    run_path: Path = positional(
        MISSING,
        "Folder of a run or its name below runs/ (its latest checkpoint is shown), or a "
        "checkpoint.",
        metavar="RUN",
    )

    def run(self) -> int:
        """Prints the checkpoint's facts, its siblings and the configuration."""
        from rich.table import Table
        from rich.text import Text

        from warpzone.config import tree_to_toml
        from warpzone.runs.resume import named_run
        from warpzone.runs.show import checkpoint_lines, look_into

        run = named_run(self.run_path)
        content = look_into(run)
        screen = table_console()
        facts = Table.grid(padding=(0, 2))
        for name, value in _facts(content):
            facts.add_row(Text(name, style="bold"), value)
        screen.print(facts)
        others = Table("checkpoint", "steps", "clear rate", "size", "")
        for line in checkpoint_lines(run):
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
    agrees = "agrees with the file" if content.sidecar == "whole" else "rebuilt from the file"
    yield "sidecar", f"{content.sidecar}, {agrees}"


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} GiB"
