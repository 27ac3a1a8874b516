"""How fast the environment is, next to stable-retro and nes-py, in one run.

    python benchmarks/env_throughput.py                 # a table
    python benchmarks/env_throughput.py --json out.json

Absolute figures move from machine to machine and from minute to minute, so contestants take turns
within each repeat, the best of several repeats counts for each, and ratios are what is kept.

Peers are installed with pip into virtual environments of their own on the first run.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

from ours import agent_steps, raw_frames
from peers import install
from peers.serve import Worker, measure
from report import Row, as_json, markdown

from warpzone.bench.machine import machine
from warpzone.rom import locate as roms

Contestants = dict[str, Callable[[], float]]


def best_rates(contestants: Contestants, repeats: int) -> dict[str, float]:
    """Lets everyone take turns, and returns the best rate of each."""
    best = dict.fromkeys(contestants, 0.0)
    for repeat in range(repeats):
        for name, rate in contestants.items():
            best[name] = max(best[name], rate())
        shown = ", ".join(f"{name} {rate:,.0f}" for name, rate in best.items())
        print(f"[bench] repeat {repeat + 1} of {repeats}: {shown}", file=sys.stderr)
    return best


def agent_step_rows(options: argparse.Namespace, rom: Path) -> list[Row]:
    """One environment against stable-retro."""
    python = install.install(install.STABLE_RETRO, options.peers)
    integrations = install.retro_integration(options.peers, rom)
    with ExitStack() as stack:
        arguments = (str(integrations), install.RETRO_GAME)
        retro = stack.enter_context(closing(Worker(python, "retro_steps.py", *arguments)))
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
    return [Row(text, f"{best['ours']:,.0f}", f"{best['stable-retro']:,.0f}", ratio, "x", 25)]


def raw_frame_rows(options: argparse.Namespace, rom: Path) -> list[Row]:
    """The bare console against nes-py, which always draws."""
    python = install.install(install.NES_PY, options.peers)
    undrawn, drawn = raw_frames(rom, render=False), raw_frames(rom, render=True)
    with closing(Worker(python, "nespy_frames.py")) as peer:
        best = best_rates(
            {
                "undrawn": lambda: measure(undrawn.run, options.seconds, 400, options.clock),
                "drawn": lambda: measure(drawn.run, options.seconds, 400, options.clock),
                "nes-py": lambda: peer.rate(options.seconds, options.clock),
            },
            options.repeats,
        )
    return [
        Row(
            f"raw frames/s, {name}, against nes-py",
            f"{best[name]:,.0f}",
            f"{best['nes-py']:,.0f}",
            best[name] / best["nes-py"],
            "x",
            bar,
        )
        for name, bar in (("undrawn", 150), ("drawn", 50))
    ]


def scaling_rows(options: argparse.Namespace, rom: Path) -> list[Row]:
    """Sixteen environments: two threads against one, and what Python adds."""
    with ExitStack() as stack:
        one = stack.enter_context(closing(agent_steps(rom, num_envs=16, num_threads=1)))
        two = stack.enter_context(closing(agent_steps(rom, num_envs=16, num_threads=2)))
        # Wall clock only: the processor time of two threads says nothing about their speed.
        best = best_rates(
            {
                "1 thread": lambda: measure(one.run, options.seconds, 160),
                "2 threads": lambda: measure(two.run, options.seconds, 160),
            },
            options.repeats,
        )
        share = min(two.python_share(options.seconds) for _ in range(options.repeats))
    ratio = best["2 threads"] / best["1 thread"]
    two_text, one_text = f"{best['2 threads']:,.0f}", f"{best['1 thread']:,.0f}"
    return [
        Row("agent steps/s, 16 envs, 2 threads against 1", two_text, one_text, ratio, "x", 1.8),
        Row(
            "Python's share of `step`, 16 envs, 2 threads",
            f"{share:.1%}",
            "-",
            100 * share,
            "%",
            10,
            lower_is_better=True,
        ),
    ]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", type=Path, default=install.DEFAULT_FOLDER)
    parser.add_argument("--rom", type=Path, help="game image; default: the one warpzone uses")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of one turn")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--clock",
        choices=("wall", "cpu"),
        default="wall",
        help="what the rows with one thread count; cpu on a machine that others use",
    )
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    rom = roms.find_rom(path=options.rom).resolve()
    rows = [
        *agent_step_rows(options, rom),
        *raw_frame_rows(options, rom),
        *scaling_rows(options, rom),
    ]
    print("\n".join(f"{key}: {value}" for key, value in machine().items()))
    print(f"best of {options.repeats} turns of {options.seconds:g} s, {options.clock} clock\n")
    print(markdown(rows))
    if options.json is not None:
        options.json.write_text(json.dumps(as_json(rows), indent=2) + "\n")


if __name__ == "__main__":
    main()
