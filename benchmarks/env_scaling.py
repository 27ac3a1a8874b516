"""Measures the cost of a step against the number of environments and threads.

    python benchmarks/env_scaling.py                # prints the tables
    python benchmarks/env_scaling.py --write        # also writes docs/scaling.md and its plot

For each number of environments the contestants take turns: `step` with one and two threads, and
`send`/`recv` with two. The median of the turns counts. The columns for 4 and 8 threads are not
measured: they divide the native part of a one-thread step by the number of threads and leave
Python's part as it is, so they are an upper bound for a machine with that many free cores.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from env_throughput import turns_of
from scaling_plot import Line, log_plot
from workloads import agent_steps, sent_steps

from warpzone.bench.machine import machine_info
from warpzone.bench.peers.serve import measure
from warpzone.rom import locate as roms

ENVS = tuple(2**power for power in range(11))
OBS = ("pixels", "tiles")
DOCS = Path(__file__).resolve().parent.parent / "docs"
HEADINGS = (
    "envs",
    "`step`, 1 thread",
    "`step`, 2 threads",
    "`send`/`recv`, 2 threads",
    "4 threads (model)",
    "8 threads (model)",
)


@dataclass(frozen=True)
class Costs:
    """Microseconds per step of one environment, for a number of environments."""

    num_envs: int
    step_one: float
    step_two: float
    sent_two: float
    python: float  # The part of `step_one` that is spent in Python.

    def model(self, threads: int) -> float:
        """Returns the cost with more threads, if they divide the native part evenly."""
        native = self.step_one - self.python
        return self.python + native / min(threads, self.num_envs)

    def columns(self) -> tuple[float, ...]:
        """Returns the costs in the order of the table's columns."""
        return self.step_one, self.step_two, self.sent_two, self.model(4), self.model(8)


def measure_costs(rom: Path, obs: str, num_envs: int, options: argparse.Namespace) -> Costs:
    """Measures one row of the table."""
    seconds, turns = options.seconds, options.turns
    with ExitStack() as stack:
        one = stack.enter_context(closing(agent_steps(rom, num_envs, 1, obs)))
        two = stack.enter_context(closing(agent_steps(rom, num_envs, 2, obs)))
        sent = stack.enter_context(closing(sent_steps(rom, num_envs, 2, obs)))
        batch = max(num_envs, 16)
        rates = turns_of(
            {
                "one": lambda: measure(one.run, seconds, batch, options.clock),
                "two": lambda: measure(two.run, seconds, batch),
                "sent": lambda: measure(sent.run, seconds, batch),
            },
            turns,
        )
        share = statistics.median(one.python_share(seconds / 2) for _ in range(turns))
    cost = {name: 1e6 / statistics.median(values) for name, values in rates.items()}
    return Costs(num_envs, cost["one"], cost["two"], cost["sent"], share * cost["one"])


def table(rows: list[Costs]) -> str:
    """Returns a Markdown table."""
    lines = [HEADINGS, tuple("---" for _ in HEADINGS)]
    lines += [(str(row.num_envs), *(f"{cost:.1f}" for cost in row.columns())) for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def plot(costs: dict[str, list[Costs]]) -> str:
    """Returns the plot as SVG."""
    lines = []
    for obs, rows in costs.items():
        for column, name in enumerate(HEADINGS[1:]):
            points = [(row.num_envs, row.columns()[column]) for row in rows]
            lines.append(Line(f"{obs}: {name.replace('`', '')}", points, dashed="model" in name))
    return log_plot(lines, x_label="environments", y_label="µs per step of one environment")


def page_text(page: str, text: str) -> str:
    """Returns the page with new measurements between its marks."""
    begin, end = "<!-- measured -->\n", "<!-- end -->"
    head, rest = page.split(begin)
    return head + begin + text + end + rest.split(end, 1)[1]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rom", type=Path, help="path to the ROM; default: the installed one")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.5, help="duration of one turn")
    parser.add_argument(
        "--clock",
        choices=("wall", "cpu"),
        default="wall",
        help="clock for one thread; use cpu on a busy machine",
    )
    parser.add_argument("--write", action="store_true", help="write docs/scaling.md and its plot")
    options = parser.parse_args()
    rom = roms.find_rom(path=options.rom).resolve()
    load = os.getloadavg()[0]
    costs: dict[str, list[Costs]] = {obs: [] for obs in OBS}
    for obs in OBS:
        for num_envs in ENVS:
            row = measure_costs(rom, obs, num_envs, options)
            costs[obs].append(row)
            print(f"[bench] {obs}, {row}", file=sys.stderr)
    machine = machine_info()
    text = (
        f"{datetime.now(UTC):%Y-%m-%d}, {machine['cpu']}, {machine['cores']} cores, load average "
        f"{load:.1f} before the run. Microseconds per step of one environment, median of "
        f"{options.turns} turns of {options.seconds:g} s; {options.clock} clock for one thread, "
        "wall clock for two."
        + (" **The machine was busy: these figures are provisional.**" if load > 1 else "")
        + "\n\n"
        + "\n\n".join(f"From {obs}:\n\n{table(rows)}" for obs, rows in costs.items())
        + "\n"
    )
    print(text)
    if options.write:
        (DOCS / "scaling.svg").write_text(plot(costs))
        page = DOCS / "scaling.md"
        page.write_text(page_text(page.read_text(), text))


if __name__ == "__main__":
    main()
