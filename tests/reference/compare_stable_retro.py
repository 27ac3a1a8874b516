"""Compares our RAM with stable-retro's, byte by byte and frame by frame, on all 32 levels.

The reference is stable-retro's core with a custom integration of the ROM. Both sides boot and enter
the level by the same procedure. Emulators differ by a frame while a level loads, so the reference's
RAM is copied once, on the first frame of control; after that nothing is copied. The buttons are
chosen by playing on our console (`player.py`) and then played on both.

    python tests/reference/compare_stable_retro.py --levels 1-1 8-4 --frames 3000

The stack itself is not compared: it holds return addresses and flags of code that was interrupted
in a spin loop. The game's variables below it in the same page ($100-$15F) are compared.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from player import plan

import warpzone
from warpzone.bench.peers import install
from warpzone.bench.peers.level_start import ALL_LEVELS, Level, start_level
from warpzone.rom import locate as roms

HERE = Path(__file__).resolve().parent

Bytes = npt.NDArray[np.uint8]

COMPARED = np.ones(2048, dtype=bool)
COMPARED[0x160:0x200] = False


class OurMachine:
    """`warpzone.Console` with the `Machine` interface."""

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
    """The first difference between two machines."""

    frame: int
    addresses: tuple[int, ...]
    ours: tuple[int, ...]
    theirs: tuple[int, ...]

    def __str__(self) -> str:
        examples = [
            f"${address:03X} ours {ours:02X} theirs {theirs:02X}"
            for address, ours, theirs in zip(
                self.addresses[:6], self.ours, self.theirs, strict=False
            )
        ]
        return f"frame {self.frame}: {len(self.addresses)} bytes differ: " + ", ".join(examples)


def first_difference(machine: OurMachine, buttons: Bytes, trace: Bytes) -> Difference | None:
    """Plays the buttons on our console and compares it with the reference's trace.

    Returns:
        The first difference in a compared byte, or None.
    """
    for frame, (pressed, theirs) in enumerate(zip(buttons, trace, strict=True)):
        machine.step(int(pressed))
        ours = machine.ram()
        wrong = np.flatnonzero((ours != theirs) & COMPARED)
        if wrong.size:
            return Difference(
                frame, tuple(wrong.tolist()), tuple(ours[wrong]), tuple(theirs[wrong])
            )
    return None


class Reference:
    """stable-retro in its own process and environment."""

    def __init__(self, options: argparse.Namespace, rom: Path, folder: Path) -> None:
        self._folder = folder
        python = install.install(install.STABLE_RETRO, options.peers)
        command = [str(python), str(HERE / "retro_worker.py"), "--folder", str(folder)]
        command += ["--integrations", str(install.retro_integration(options.peers, rom))]
        command += ["--game", install.RETRO_GAME, "--levels", *map(str, options.levels)]
        self._worker = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(install.IMPORT_FROM)},
        )

    def _answer(self, level: Level) -> None:
        assert self._worker.stdout is not None
        line = self._worker.stdout.readline().strip()
        if line != str(level):
            raise RuntimeError(f"the reference worker answered {line!r} for level {level}")

    def start(self, level: Level) -> Bytes:
        """Returns the RAM when control begins."""
        self._answer(level)
        return np.asarray(np.load(self._folder / "start.npy"))

    def play(self, level: Level, buttons: Bytes) -> Bytes:
        """Returns the RAM after every frame."""
        np.save(self._folder / "buttons.npy", buttons)
        assert self._worker.stdin is not None
        print("play", file=self._worker.stdin, flush=True)
        self._answer(level)
        return np.asarray(np.load(self._folder / "trace.npy"))

    def close(self) -> None:
        """Stops the worker."""
        assert self._worker.stdin is not None
        self._worker.stdin.close()
        self._worker.wait(timeout=60)


def compare(
    reference: Reference, rom: Path, level: Level, options: argparse.Namespace
) -> Difference | None:
    """Starts a level on both machines and plays it."""
    start = reference.start(level)
    machine = OurMachine(rom, options.exact)
    start_level(machine, level)
    for address in np.flatnonzero(COMPARED):
        machine.write(int(address), int(start[address]))
    state = machine.console.save()
    planner = warpzone.Console(str(rom))
    planner.load(state)
    seed = options.seed * 100 + level.world * 10 + level.level
    buttons = plan(planner, seed, options.frames)
    return first_difference(machine, buttons, reference.play(level, buttons))


def main() -> int:
    """Command line; the exit status is the number of levels that differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--levels", nargs="+", type=Level.parse, default=list(ALL_LEVELS))
    parser.add_argument("--frames", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rom", type=Path, help="path to the ROM; default: the installed one")
    parser.add_argument("--exact", action="store_true", help="disable our fast path")
    parser.add_argument("--peers", type=Path, default=install.DEFAULT_FOLDER)
    options = parser.parse_args()
    rom = roms.find_rom(path=options.rom).resolve()
    equal = 0
    with tempfile.TemporaryDirectory() as folder:
        reference = Reference(options, rom, Path(folder))
        try:
            for level in options.levels:
                difference = compare(reference, rom, level, options)
                equal += difference is None
                print(f"{level}: {difference or f'equal for {options.frames} frames'}", flush=True)
        finally:
            reference.close()
    print(f"{equal} of {len(options.levels)} levels equal")
    return len(options.levels) - equal


if __name__ == "__main__":
    sys.exit(main())
