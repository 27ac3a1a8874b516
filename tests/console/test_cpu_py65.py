"""Our CPU agrees with py65, an independent 6502 emulator, on random programs."""

from __future__ import annotations

import numpy as np
import pytest
from random_programs import REGISTERS, UNWIRED_FLAGS, Program, generate_program

import warpzone

SEEDS, SEEDS_PER_TEST = 300, 25
INSTRUCTIONS = 200

seed_blocks = pytest.mark.parametrize("first_seed", range(0, SEEDS, SEEDS_PER_TEST))
both_modes = pytest.mark.parametrize("exact", [False, True], ids=["fast", "exact"])


def console_for(program: Program, exact: bool) -> warpzone.Console:
    nes = warpzone.Console(program.image, exact=exact)
    for address, value in enumerate(program.ram):
        nes.poke(address, value)
    for name in REGISTERS:
        setattr(nes.cpu, name, program.registers[name])
    return nes


def registers_of(nes: warpzone.Console) -> dict[str, int]:
    values = {name: getattr(nes.cpu, name) for name in REGISTERS}
    return values | {"p": values["p"] | UNWIRED_FLAGS}


@both_modes
@seed_blocks
def test_every_instruction_has_the_same_effect_and_duration_as_in_py65(
    first_seed: int, exact: bool
) -> None:
    for seed in range(first_seed, first_seed + SEEDS_PER_TEST):
        program = generate_program(seed, INSTRUCTIONS)
        model = program.model()
        nes = console_for(program, exact)
        start = nes.cycle_count
        for number in range(program.instructions):
            where = f"seed {seed}, instruction {number} at ${model.pc:04X}"
            model.step()
            nes.step_instruction()
            assert registers_of(nes) == model.registers(), where
            assert nes.cycle_count - start == model.processorCycles, where
            assert np.array_equal(nes.ram, np.frombuffer(model.memory.ram, np.uint8)), where
        prg_ram = bytes(nes.peek(0x6000 + i) for i in range(0x2000))
        assert prg_ram == model.memory.prg_ram, f"seed {seed}"


@both_modes
@seed_blocks
def test_running_a_program_within_a_frame_ends_as_in_py65(first_seed: int, exact: bool) -> None:
    """`run_frame` may take other code paths than single steps; every program ends in a spin."""
    for seed in range(first_seed, first_seed + SEEDS_PER_TEST):
        program = generate_program(seed, INSTRUCTIONS)
        model = program.model()
        for _ in range(program.instructions):
            model.step()
        nes = console_for(program, exact)
        nes.run_frame(0, render=False)
        assert registers_of(nes) == model.registers(), f"seed {seed}"
        assert np.array_equal(nes.ram, np.frombuffer(model.memory.ram, np.uint8)), f"seed {seed}"
