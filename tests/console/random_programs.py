"""Random 6502 programs that stay inside RAM and PRG ROM, grown by running them on py65.

A program is not drawn beforehand: at each step an instruction is drawn at the place the program
counter has reached, tried on py65, and kept only if it touched nothing but memory and left the
counter in PRG ROM. So jumps, returns from a random stack and indirect addresses are all covered,
and neither PPU nor APU registers are ever touched.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import ClassVar

from py65.devices.mpu6502 import MPU

PRG_START, PRG_SIZE = 0x8000, 0x8000
CODE_END = 0xFFF0  # vectors and a margin stay free of code
JUMP_ABSOLUTE, DEC_ABSOLUTE = 0x4C, 0xCE
REGISTERS = ("pc", "a", "x", "y", "sp", "p")
UNWIRED_FLAGS = 0x30  # B and the unused bit exist only in pushed copies

OFFICIAL_OPCODES = tuple(
    opcode for opcode, (name, _) in enumerate(MPU.disassemble) if name != "???"
)


class NesMemory:
    """The memory a mapper-0 console shows to py65: mirrored RAM, PRG RAM, PRG ROM."""

    def __init__(self, ram: bytes, prg: bytes) -> None:
        self.ram = bytearray(ram)
        self.prg_ram = bytearray(0x2000)
        self.prg = bytearray(prg)
        self.touched: set[int] = set()
        self.left_memory = False
        self._undo: list[tuple[bytearray, int, int]] = []

    def begin(self) -> None:
        """Starts a new record of what is touched."""
        self.touched = set()
        self.left_memory = False
        self._undo = []

    def undo(self) -> None:
        """Takes back every write since `begin`."""
        for block, index, value in reversed(self._undo):
            block[index] = value

    def _find(self, address: int) -> tuple[bytearray, int] | None:
        address &= 0xFFFF
        if address < 0x2000:
            return self.ram, address & 0x7FF
        if address >= PRG_START:
            return self.prg, address - PRG_START
        if address >= 0x6000:
            return self.prg_ram, address - 0x6000
        return None

    def __getitem__(self, address: int) -> int:
        place = self._find(address)
        if place is None:
            self.left_memory = True
            return 0
        self.touched.add(address & 0xFFFF)
        return place[0][place[1]]

    def __setitem__(self, address: int, value: int) -> None:
        place = self._find(address)
        if place is None:
            self.left_memory = True
        elif place[0] is not self.prg:
            self._undo.append((*place, place[0][place[1]]))
            place[0][place[1]] = value


class NesMpu(MPU):  # type: ignore[misc]
    """py65's NMOS 6502 without decimal mode, as in the NES. D can be set, but does nothing."""

    # py65 1.2.0 counts 3 cycles for DEC absolute; the 6502 takes 6, and every other count of
    # py65's table agrees with the timings that `cpu_timing_test6` was verified with.
    cycletime: ClassVar[list[int]] = [
        6 if opcode == DEC_ABSOLUTE else cycles for opcode, cycles in enumerate(MPU.cycletime)
    ]

    def opADC(self, x: object) -> None:  # noqa: N802
        self._binary(super().opADC, x)

    def opSBC(self, x: object) -> None:  # noqa: N802
        self._binary(super().opSBC, x)

    def _binary(self, operation: object, x: object) -> None:
        decimal = self.p & self.DECIMAL
        self.p &= ~self.DECIMAL
        operation(x)  # type: ignore[operator]
        self.p |= decimal

    def registers(self) -> dict[str, int]:
        """Returns the registers, with the flags that are no flip-flops set."""
        values = {name: getattr(self, name) for name in REGISTERS}
        return values | {"p": values["p"] | UNWIRED_FLAGS}

    def set_registers(self, values: dict[str, int]) -> None:
        """Sets every register."""
        for name in REGISTERS:
            setattr(self, name, values[name])


@dataclass(frozen=True)
class Program:
    """A program with the state it starts from."""

    image: bytes
    ram: bytes
    registers: dict[str, int]
    instructions: int

    def model(self) -> NesMpu:
        """Returns py65 ready to run it."""
        mpu = NesMpu(memory=NesMemory(self.ram, self.image[16 : 16 + PRG_SIZE]))
        mpu.set_registers(self.registers)
        return mpu


def grow(seed: int, instructions: int) -> Program:
    """Grows one program.

    Args:
        seed: Decides everything.
        instructions: How many to run before the closing jump to itself.

    Returns:
        The program.
    """
    rng = random.Random(seed)
    ram = rng.randbytes(0x800)
    memory = NesMemory(ram, rng.randbytes(PRG_SIZE))
    registers = {name: rng.randrange(256) for name in REGISTERS}
    registers |= {"pc": rng.randrange(PRG_START, CODE_END), "p": registers["p"] | UNWIRED_FLAGS}
    mpu = NesMpu(memory=memory)
    mpu.set_registers(registers)
    # BRK must lead into PRG ROM.
    memory.prg[0x7FFE:] = rng.randrange(PRG_START, CODE_END).to_bytes(2, "little")
    fixed: set[int] = {0xFFFE, 0xFFFF}
    for _ in range(instructions):
        _grow_one(mpu, rng, fixed)
    place = mpu.pc - PRG_START
    memory.prg[place : place + 3] = bytes((JUMP_ABSOLUTE, mpu.pc & 0xFF, mpu.pc >> 8))
    header = b"NES\x1a" + bytes((PRG_SIZE // 0x4000, 1, 0, 0)) + bytes(8)
    return Program(header + bytes(memory.prg) + bytes(0x2000), ram, registers, instructions)


def _grow_one(mpu: NesMpu, rng: random.Random, fixed: set[int]) -> None:
    """Puts an instruction at the program counter and runs it."""
    memory: NesMemory = mpu.memory
    before, cycles = mpu.registers(), mpu.processorCycles
    for _ in range(1000):
        _draw(memory, before["pc"], rng)
        memory.begin()
        mpu.step()
        reads = {address for address in memory.touched if address >= PRG_START}
        stayed = not memory.left_memory and PRG_START <= mpu.pc < CODE_END
        if stayed and _is_free(mpu.pc, fixed | reads):
            fixed |= reads
            return
        memory.undo()
        mpu.set_registers(before)
        mpu.processorCycles = cycles
    raise RuntimeError(f"no instruction fits at ${before['pc']:04X}")


def _draw(memory: NesMemory, pc: int, rng: random.Random) -> None:
    place = pc - PRG_START
    memory.prg[place] = rng.choice(OFFICIAL_OPCODES)
    memory.prg[place + 1] = rng.randrange(256)
    memory.prg[place + 2] = _high_byte(rng)


def _high_byte(rng: random.Random) -> int:
    """Draws the high byte of an address; RAM, PRG RAM and PRG ROM most of the time."""
    if rng.random() < 0.8:
        return rng.choice((rng.randrange(0x20), rng.randrange(0x60, 0x100)))
    return rng.randrange(256)


def _is_free(pc: int, fixed: set[int]) -> bool:
    """Whether a new instruction of any length fits; so a program never meets itself."""
    return all(pc + offset not in fixed for offset in range(3))
