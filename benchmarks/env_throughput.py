"""Compares the speed of the environment with stable-retro and nes-py.

    python benchmarks/env_throughput.py                 # prints a table
    python benchmarks/env_throughput.py --json out.json

Absolute speeds vary between machines and over time. The contestants therefore take turns, the best
of several turns counts for each, and the result is the ratio.

The first run installs each peer with pip into its own virtual environment.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from comparison import Comparison, as_json, markdown
from workloads import agent_steps, raw_frames, sent_steps

from warpzone.bench.machine import machine_info
from warpzone.bench.peers import install
from warpzone.bench.peers.serve import Worker, measure
from warpzone.rom import locate as roms

Contestants = dict[str, Callable[[], float]]


def best_rates(contestants: Contestants, repeats: int) -> dict[str, float]:
    """Runs the contestants in turns and returns the best rate of each."""
    best = dict.fromkeys(contestants, 0.0)
    for repeat in range(repeats):
        for name, rate in contestants.items():
            best[name] = max(best[name], rate())
        rates = ", ".join(f"{name} {rate:,.0f}" for name, rate in best.items())
        print(f"[bench] repeat {repeat + 1} of {repeats}: {rates}", file=sys.stderr)
    return best


def compare_agent_steps(options: argparse.Namespace, rom: Path) -> list[Comparison]:
    """Compares a single environment with stable-retro."""
    python = install.install(install.STABLE_RETRO, options.peers)
    integrations = install.retro_integration(options.peers, rom)
    with ExitStack() as stack:
        arguments = (str(integrations), install.RETRO_GAME)
        retro = stack.enter_context(closing(Worker(python, "retro_steps", *arguments)))
        ours = stack.enter_context(closing(agent_steps(rom, num_envs=1, num_threads=1)))
        best = best_rates(
            {
                "ours": lambda: measure(ours.run, options.seconds, 100, options.clock),
                "stable-retro": lambda: retro.rate(options.seconds, options.clock),
            },
            options.repeats,
        )
    ratio = best["ours"] / best["stable-retro"]
    text = "agent steps/s, 1 env, 1 thread (skip 4, grey 84x84, stack 4), against stable-retro"
    return [
        Comparison(text, f"{best['ours']:,.0f}", f"{best['stable-retro']:,.0f}", ratio, "x", 36)
    ]


def compare_raw_frames(options: argparse.Namespace, rom: Path) -> list[Comparison]:
    """Compares the bare console with nes-py, which always renders."""
    python = install.install(install.NES_PY, options.peers)
    not_rendered, rendered = raw_frames(rom, render=False), raw_frames(rom, render=True)
    with closing(Worker(python, "nespy_frames")) as peer:
        best = best_rates(
            {
                "not rendered": lambda: measure(
                    not_rendered.run, options.seconds, 400, options.clock
                ),
                "rendered": lambda: measure(rendered.run, options.seconds, 400, options.clock),
                "nes-py": lambda: peer.rate(options.seconds, options.clock),
            },
            options.repeats,
        )
    return [
        Comparison(
            f"raw frames/s, {name}, against nes-py",
            f"{best[name]:,.0f}",
            f"{best['nes-py']:,.0f}",
            best[name] / best["nes-py"],
            "x",
            bar,
        )
        for name, bar in (("not rendered", 150), ("rendered", 50))
    ]


def turns_of(contestants: Contestants, turns: int) -> dict[str, list[float]]:
    """Runs the contestants in turns and returns all rates of each."""
    rates: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(turns):
        for name, rate in contestants.items():
            rates[name].append(rate())
    return rates


def measure_scaling(options: argparse.Namespace, rom: Path) -> list[Comparison]:
    """Measures 16 environments: two threads against one, and the Python overhead."""
    with ExitStack() as stack:

        def workload(make: Callable[..., Any], threads: int) -> Any:
            return stack.enter_context(closing(make(rom, num_envs=16, num_threads=threads)))

        names = {"`send`/`recv`": sent_steps, "`step`": agent_steps}
        workloads = {
            (name, threads): workload(make, threads)
            for name, make in names.items()
            for threads in (1, 2)
        }
        # Always wall-clock time: the CPU time of two threads says nothing about their speed.
        rates = turns_of(
            {
                f"{name} {threads}": lambda one=one: measure(one.run, options.seconds, 160)  # type: ignore[misc]
                for (name, threads), one in workloads.items()
            },
            options.turns,
        )
        shares = [
            workloads["`step`", 2].python_share(options.seconds) for _ in range(options.repeats)
        ]
    rows = []
    for name in names:
        one, two = rates[f"{name} 1"], rates[f"{name} 2"]
        # The ratio of neighbouring turns: the load of a shared machine is about the same in both.
        ratio = statistics.median(b / a for a, b in zip(one, two, strict=True))
        what = f"agent steps/s, 16 envs, {name}, 2 threads against 1, median of {len(one)} turns"
        ours, other = statistics.median(two), statistics.median(one)
        rows.append(Comparison(what, f"{ours:,.0f}", f"{other:,.0f}", ratio, "x", 1.8))
    share = min(shares)
    what = "Python's share of `step`, 16 envs, 2 threads"
    rows.append(Comparison(what, f"{share:.1%}", "-", 100 * share, "%", 10, lower_is_better=True))
    return rows


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", type=Path, default=install.DEFAULT_FOLDER)
    parser.add_argument("--rom", type=Path, help="path to the ROM; default: the installed one")
    parser.add_argument("--seconds", type=float, default=2.0, help="duration of one turn")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--turns", type=int, default=9, help="turns of one and two threads")
    parser.add_argument(
        "--clock",
        choices=("wall", "cpu"),
        default="wall",
        help="clock for single-threaded measurements; use cpu on a busy machine",
    )
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    options = parser.parse_args()
    rom = roms.find_rom(path=options.rom).resolve()
    rows = [
        *compare_agent_steps(options, rom),
        *compare_raw_frames(options, rom),
        *measure_scaling(options, rom),
    ]
    print("\n".join(f"{key}: {value}" for key, value in machine_info().items()))
    print(f"best of {options.repeats} turns of {options.seconds:g} s, {options.clock} clock\n")
    print(markdown(rows))
    if options.json is not None:
        options.json.write_text(json.dumps(as_json(rows), indent=2) + "\n")


if __name__ == "__main__":
    main()
