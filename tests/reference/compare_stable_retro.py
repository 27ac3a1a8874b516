"""Compares our machine's RAM with stable-retro's, byte by byte, frame by frame, on 32 levels.

The reference is stable-retro's own core with a custom integration of the ROM. Both sides boot and
enter the level by the same procedure. Emulators differ by a frame while a level loads, so the
reference's RAM is taken over once, on the first frame of control; from there on nothing is copied.

    python tests/reference/compare_stable_retro.py --levels 1-1 8-4 --frames 3000

The stack's own bytes are left out: they keep return addresses and flags of code that was
interrupted in a spin loop. The game keeps variables below them in the same page ($100-$15F);
those are compared.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

import warpzone
from warpzone import roms

HERE = Path(__file__).resolve().parent
BENCHMARKS = HERE.parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from peers import install  # noqa: E402  (found through the line above)
from peers.level_start import ALL_LEVELS, Level, start_level  # noqa: E402

Bytes = npt.NDArray[np.uint8]

COMPARED = np.ones(2048, dtype=bool)
COMPARED[0x160:0x200] = False


class OurMachine:
    """`warpzone.Console` as the start procedure wants it."""

    def __init__(self, rom: Path, exact: bool) -> None:
        self.console = warpzone.Console(str(rom), exact=exact)

    def step(self, buttons: int) -> None:
        self.console.run_frame(buttons, render=False)

    def read(self, address: int) -> int:
        return int(self.console.peek(address))

    def write(self, address: int, value: int) -> None:
        self.console.poke(address, value)

    def ram(self) -> Bytes:
        return np.array(self.console.ram, dtype=np.uint8)


@dataclass(frozen=True)
class Difference:
    """Where two machines first disagree."""

    frame: int
    addresses: tuple[int, ...]
    ours: tuple[int, ...]
    theirs: tuple[int, ...]

    def __str__(self) -> str:
        shown = [
            f"${address:03X} ours {ours:02X} theirs {theirs:02X}"
            for address, ours, theirs in zip(
                self.addresses[:6], self.ours, self.theirs, strict=False
            )
        ]
        return f"frame {self.frame}: {len(self.addresses)} bytes differ: " + ", ".join(shown)


def first_difference(rom: Path, level: Level, recording: Path, exact: bool) -> Difference | None:
    """Replays a recording on our machine.

    Returns:
        The first frame at which a compared byte differs, or None.
    """
    with np.load(recording) as stored:
        start, buttons, trace = stored["start"], stored["buttons"], stored["trace"]
    machine = OurMachine(rom, exact)
    start_level(machine, level)
    for address in np.flatnonzero(COMPARED):
        machine.write(int(address), int(start[address]))
    for frame, (pressed, theirs) in enumerate(zip(buttons, trace, strict=True)):
        machine.step(int(pressed))
        ours = machine.ram()
        wrong = np.flatnonzero((ours != theirs) & COMPARED)
        if wrong.size:
            return Difference(
                frame, tuple(wrong.tolist()), tuple(ours[wrong]), tuple(theirs[wrong])
            )
    return None


def recordings(
    options: argparse.Namespace, rom: Path, folder: Path
) -> Iterator[tuple[Level, Path]]:
    """Runs the reference in its own environment and yields each level as soon as it is there."""
    python = install.install(install.STABLE_RETRO, options.peers)
    command = [str(python), str(HERE / "retro_worker.py"), "--output", str(folder)]
    command += ["--integrations", str(install.retro_integration(options.peers, rom))]
    command += ["--game", install.RETRO_GAME, "--frames", str(options.frames)]
    command += ["--seed", str(options.seed), "--levels", *map(str, options.levels)]
    environment = os.environ | {"PYTHONPATH": str(BENCHMARKS)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as worker:
        assert worker.stdout is not None
        for line in worker.stdout:
            level = Level.parse(line.strip())
            path = folder / f"{level}.npz"
            yield level, path
            path.unlink()
    if worker.returncode != 0:
        raise RuntimeError(f"the reference worker ended with status {worker.returncode}")


def main() -> int:
    """Command line; the status is the number of levels that differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--levels", nargs="+", type=Level.parse, default=list(ALL_LEVELS))
    parser.add_argument("--frames", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rom", type=Path, help="game image; default: the one warpzone uses")
    parser.add_argument("--exact", action="store_true", help="switch our fast paths off")
    parser.add_argument("--peers", type=Path, default=install.DEFAULT_FOLDER)
    options = parser.parse_args()
    rom = roms.find_rom(path=options.rom).resolve()
    seen = differing = 0
    with tempfile.TemporaryDirectory() as folder:
        for level, path in recordings(options, rom, Path(folder)):
            difference = first_difference(rom, level, path, options.exact)
            seen += 1
            differing += difference is not None
            print(f"{level}: {difference or f'equal for {options.frames} frames'}", flush=True)
    print(f"{seen - differing} of {len(options.levels)} levels equal")
    return differing + len(options.levels) - seen


if __name__ == "__main__":
    sys.exit(main())
