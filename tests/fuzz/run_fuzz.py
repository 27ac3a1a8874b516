"""Fuzzes the Python interface; `make fuzz` runs it against a build with ASan and UBSan.

    make fuzz FUZZ_ARGUMENTS="--cases 2000 --seed 1"
    make fuzz FUZZ_ARGUMENTS="--target states --seed 1 --first 812 --cases 1"

Cases run in a child process. A crash, a hang or an unexpected exception is reported with the
command that reproduces it, and the remaining cases continue in a new child.
"""

from __future__ import annotations

import argparse
import faulthandler
import mmap
import random
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

_HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(_HERE.parent / "console"))

import console_cases  # noqa: E402  (its imports need the line above)
import fuzz_vector  # noqa: E402
import rom_cases  # noqa: E402
import state_cases  # noqa: E402
from fuzz_outcome import FuzzFailureError  # noqa: E402

# Fuzz targets and their weights out of fifteen. A target is a function that raises FuzzFailureError
# on misbehaviour.
TARGETS: dict[str, tuple[Callable[[random.Random], object], int]] = {
    "roms": (rom_cases.run_case, 4),
    "states": (state_cases.run_case, 5),
    "console": (console_cases.run_case, 1),
    "vector": (fuzz_vector.run_case, 5),
}

CASE_SECONDS = 30.0  # much longer than any case takes, even under sanitizers
_PROGRESS_BYTES = 16


def run_case(seed: int, number: int, target: str | None) -> None:
    """Runs one case, which is determined by the seed and number."""
    rng = random.Random(f"{seed}/{number}")
    names = [name for name, (_, weight) in TARGETS.items() for _ in range(weight)]
    name = rng.choice(names)
    TARGETS[target or name][0](rng)


def work(options: argparse.Namespace) -> int:
    """Runs a range of cases in this process and keeps the current number in a shared file."""
    with Path(options.progress).open("r+b") as file:
        progress = mmap.mmap(file.fileno(), _PROGRESS_BYTES)
    for number in range(options.first, options.first + options.cases):
        progress[:_PROGRESS_BYTES] = number.to_bytes(_PROGRESS_BYTES, "little")
        faulthandler.dump_traceback_later(CASE_SECONDS, exit=True)
        try:
            run_case(options.seed, number, options.target)
        except FuzzFailureError:
            traceback.print_exc()
            return 1
        faulthandler.cancel_dump_traceback_later()
    return 0


def supervise(options: argparse.Namespace) -> int:
    """Runs all cases in child processes.

    Returns:
        The number of failures.
    """
    failures = 0
    number, last = options.first, options.first + options.cases
    began = time.monotonic()
    with tempfile.NamedTemporaryFile() as progress:
        progress.write(bytes(_PROGRESS_BYTES))
        progress.flush()
        while number < last:
            count = min(last - number, options.chunk)
            command = [sys.executable, *_interpreter_flags(), __file__, "--progress", progress.name]
            command += ["--seed", str(options.seed), "--first", str(number), "--cases", str(count)]
            command += ["--target", options.target] if options.target else []
            child = subprocess.run(command, capture_output=True, text=True, check=False)
            if child.returncode == 0:
                number += count
                seconds = time.monotonic() - began
                print(
                    f"{number - options.first} cases, {failures} failures, {seconds:.0f} s",
                    flush=True,
                )
                continue
            failed = int.from_bytes(Path(progress.name).read_bytes(), "little")
            failures += 1
            print(f"case {failed}: status {child.returncode}\n{_head(child.stderr)}", flush=True)
            print(_reproduce_command(options, failed), flush=True)
            number = failed + 1
    print(f"{options.cases} cases, {failures} failures")
    return failures


def _interpreter_flags() -> list[str]:
    # `make fuzz` runs without the site module, which would find the regular build first.
    return ["-S"] if sys.flags.no_site else []


def _head(errors: str) -> str:
    return "\n".join(errors.strip().splitlines()[:25])


def _reproduce_command(options: argparse.Namespace, number: int) -> str:
    target = f"--target {options.target} " if options.target else ""
    arguments = f"{target}--seed {options.seed} --first {number} --cases 1"
    return f'    make fuzz FUZZ_ARGUMENTS="{arguments}"'


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--target", choices=sorted(TARGETS), help="fuzz only this target")
    parser.add_argument("--chunk", type=int, default=5000, help="cases per child process")
    parser.add_argument("--progress", help=argparse.SUPPRESS)
    options = parser.parse_args()
    return work(options) if options.progress else min(supervise(options), 100)


if __name__ == "__main__":
    sys.exit(main())
