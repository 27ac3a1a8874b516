"""The fast and exact paths produce the same state and the same screen in every frame.

`python tests/console/test_equivalence.py FIRST LAST` runs random programs with a range of seeds and
prints each difference with the smallest program that causes it.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import levels
import pytest
from console_pair import ConsolePair
from ppu_programs import PpuProgram, random_program

from warpzone.rom import locate as roms

PROGRAM_FRAMES = 8
PROGRAMS, PROGRAMS_PER_TEST = 600, 50
SHORT_PLAY, LONG_PLAY = 120, 3000
SHORT_LOST_LEVELS, LONG_LOST_LEVELS = 600, 6000

every_level = pytest.mark.parametrize("level", levels.ALL_LEVELS, ids=str)


def assert_equal_play(pair: ConsolePair, buttons: list[int], seed: int) -> None:
    """Plays on both consoles; rendering is switched on and off at random."""
    rng = random.Random(seed)
    render = True
    for frame, pressed in enumerate(buttons):
        render = render if rng.random() < 0.8 else not render
        pair.run_frame(pressed, render=render)
        difference = pair.difference(screens=render)
        assert difference is None, f"seed {seed}, frame {frame}"


def play_level(rom: Path, level: levels.Level, frames: int) -> None:
    pair = ConsolePair(rom.read_bytes())
    state = levels.state_at_start(rom, level)
    for console in pair:
        console.load(state)
    seed = level.world * 10 + level.level
    assert_equal_play(pair, levels.buttons_for(seed, frames), seed)


def play_lost_levels(rom: Path, frames: int) -> None:
    pair = ConsolePair(rom.read_bytes())
    state = levels.start_lost_levels(rom)
    for console in pair:
        console.load(state)
    assert_equal_play(pair, levels.buttons_for(2, frames), 2)


def run_program(program: PpuProgram) -> str | None:
    """Returns the first difference and its frame, or None."""
    pair = ConsolePair(program.image())
    rng = random.Random(program.seed)
    for frame in range(PROGRAM_FRAMES):
        render = rng.random() < 0.7
        pair.run_frame(rng.randrange(256), render=render, buttons2=rng.randrange(256))
        difference = pair.difference()
        if difference is not None:
            return f"frame {frame}: {difference}"
    return None


def shrink(program: PpuProgram) -> PpuProgram:
    """Removes blocks as long as a difference remains."""
    while True:
        failing = (one for one in program.smaller() if one != program and run_program(one))
        smaller = next(failing, None)
        if smaller is None:
            return program
        program = smaller


def explain(program: PpuProgram) -> str:
    smallest = shrink(program)
    return f"{run_program(program)}\nsmallest: {run_program(smallest)}\n{smallest.listing()}"


@every_level
def test_short_play_of_every_level_is_identical(rom_path: Path, level: levels.Level) -> None:
    play_level(rom_path, level, SHORT_PLAY)


def test_short_play_of_the_lost_levels_is_identical(lost_levels_path: Path) -> None:
    play_lost_levels(lost_levels_path, SHORT_LOST_LEVELS)


def test_boot_title_and_demo_are_identical_without_loading_a_state(rom_path: Path) -> None:
    pair = ConsolePair(rom_path.read_bytes())
    for frame in range(400):
        pair.run_frame(render=frame % 3 == 0)
        assert pair.difference() is None, f"frame {frame}"


@pytest.mark.slow
@every_level
def test_long_play_of_every_level_is_identical(rom_path: Path, level: levels.Level) -> None:
    play_level(rom_path, level, LONG_PLAY)


@pytest.mark.slow
def test_long_play_of_the_lost_levels_is_identical(lost_levels_path: Path) -> None:
    play_lost_levels(lost_levels_path, LONG_LOST_LEVELS)


@pytest.mark.parametrize("first_seed", range(0, PROGRAMS, PROGRAMS_PER_TEST))
def test_programs_that_access_ppu_registers_at_random_times_are_identical(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + PROGRAMS_PER_TEST):
        program = random_program(seed)
        assert run_program(program) is None, explain(program)


@pytest.mark.parametrize("seed", range(20))
def test_single_steps_and_the_frames_after_them_are_identical(seed: int) -> None:
    pair = ConsolePair(random_program(seed).image())
    rng = random.Random(seed)
    for _ in range(rng.randrange(2, 6)):
        pair.run_frame(rng.randrange(256))
    for number in range(rng.randrange(4000)):
        pair.step_instruction()
        assert pair.difference(screens=False, memory=False) is None, f"instruction {number}"
    for frame in range(3):
        pair.run_frame(rng.randrange(256))
        assert pair.difference() is None, f"frame {frame}"


@pytest.mark.parametrize("seed", range(40))
def test_a_reset_in_the_middle_of_a_frame_is_identical(seed: int) -> None:
    pair = ConsolePair(random_program(seed).image())
    rng = random.Random(seed)
    for _ in range(rng.randrange(2, 6)):
        pair.run_frame(rng.randrange(256))
    for _ in range(rng.randrange(4000)):
        pair.step_instruction()
    for console in pair:
        console.reset()
    for frame in range(4):
        pair.run_frame(rng.randrange(256))
        assert pair.difference() is None, f"frame {frame}"


@pytest.mark.parametrize("game", [roms.SMB, roms.LOST_LEVELS])
def test_a_reset_during_play_is_identical(game: str, request: pytest.FixtureRequest) -> None:
    fixture = "rom_path" if game == roms.SMB else "lost_levels_path"
    pair = ConsolePair(request.getfixturevalue(fixture).read_bytes())
    for _ in range(45):
        pair.run_frame(render=False)
    for console in pair:
        console.reset()
    for frame in range(45):
        pair.run_frame()
        assert pair.difference() is None, f"frame {frame}"


def search_differences(first: int, last: int) -> int:
    """Command line; the exit status is the number of seeds that differ."""
    found = 0
    for seed in range(first, last):
        program = random_program(seed)
        if run_program(program) is not None:
            found += 1
            print(explain(program), flush=True)
    print(f"{found} of {last - first} programs differ")
    return found


if __name__ == "__main__":
    sys.exit(search_differences(int(sys.argv[1]), int(sys.argv[2])))
