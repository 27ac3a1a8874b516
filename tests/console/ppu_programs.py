"""Random programs that access the PPU's registers at random times.

A program is a list of small blocks of assembly text, so that a failing one can be shrunk block by
block and printed. Tables (patterns, nametables, sprites, palette) are random as well. The seed
determines everything.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from assembler import assemble
from program_blocks import BlockWriter

TABLES_SIZE = 0x1000  # nametable pages, then sprites and palette
SPRITES_AT, PALETTE_AT = 0xE00, 0xF00
PARTS = ("setup", "main", "nmi", "irq")

_ENTER = "PHA; TXA; PHA; TYA; PHA; INC $10"
# A program that waits in `JMP *` sets $11, which moves its return address behind the jump. One that
# waits for something that never happens is restarted after a few interrupts.
_LEAVE = (
    "LDA $11; BEQ out; LDA #$00; STA $11; TSX; CLC; LDA $0105,X; ADC #$03; STA $0105,X;"
    " LDA $0106,X; ADC #$00; STA $0106,X; out: DEC $15; BNE back; LDA #$05; STA $15;"
    " LDX #$FF; TXS; JMP main; back: PLA; TAY; PLA; TAX; PLA; RTI"
)


@dataclass(frozen=True)
class PpuProgram:
    """The parts of a cartridge."""

    seed: int
    vertical: bool
    small: bool  # 16 KiB of program, mirrored
    base: int  # address that the program is assembled for
    filler: int  # shifts the code, which changes the branches that cross a page
    patterns: bytes  # empty if the cartridge has pattern RAM
    tables: bytes
    setup: tuple[str, ...]
    main: tuple[str, ...]
    nmi: tuple[str, ...]
    irq: tuple[str, ...]

    def image(self) -> bytes:
        """Builds the iNES file."""
        size = 0x4000 if self.small else 0x8000
        program = bytearray(size)
        program[: len(self.tables)] = self.tables
        symbols = {"nametables": self.base, "sprites": self.base + SPRITES_AT}
        symbols["palette"] = self.base + PALETTE_AT
        address = self.base + TABLES_SIZE + self.filler
        for name, texts in self._sections():
            symbols[name] = address
            for text in texts:
                code = assemble(text, address, symbols)
                start = address - self.base
                program[start : start + len(code)] = code
                address += len(code)
        for offset, name in ((6, "nmi"), (4, "setup"), (2, "irq")):
            program[size - offset : size - offset + 2] = symbols[name].to_bytes(2, "little")
        flags = 0x01 if self.vertical else 0x00
        header = bytes((1 if self.small else 2, 1 if self.patterns else 0, flags))
        return b"NES\x1a" + header + bytes(9) + bytes(program) + self.patterns

    def _sections(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return (
            ("setup", ("SEI; LDX #$FF; TXS; LDA #$05; STA $15", *self.setup)),
            ("main", (*self.main, "JMP main")),
            ("irq", (_ENTER, "LDA $4015", *self.irq, _LEAVE)),
            ("nmi", (_ENTER, *self.nmi, _LEAVE)),
        )

    def listing(self) -> str:
        """Returns the program as text."""
        kind = f"{'vertical' if self.vertical else 'horizontal'} mirroring, "
        kind += "pattern RAM" if not self.patterns else "pattern ROM"
        lines = [f"seed {self.seed}: {kind}, base ${self.base:04X}, filler {self.filler}"]
        for part in PARTS:
            lines += [f"{part}:"] + [f"    {text}" for text in getattr(self, part)]
        return "\n".join(lines)

    def smaller(self) -> list[PpuProgram]:
        """Returns all programs with one run of blocks removed, longest runs first."""
        longest = max(len(getattr(self, part)) for part in PARTS)
        length = 1 << max(longest - 1, 0).bit_length()
        found = []
        while length >= 1:
            for part in PARTS:
                blocks = getattr(self, part)
                for start in range(0, len(blocks), length):
                    kept = blocks[:start] + blocks[start + length :]
                    found.append(replace(self, **{part: kept}))
            length //= 2
        return found


def random_program(seed: int) -> PpuProgram:
    """Generates the program of a seed."""
    rng = random.Random(seed)
    writer = BlockWriter(rng)
    small = rng.random() < 0.3
    pattern_ram = rng.random() < 0.4
    # The flags of the previous frame, stored where a difference remains visible.
    keep_flags = ("LDA $2002; STA $2F",) if rng.random() < 0.5 else ()
    return PpuProgram(
        seed=seed,
        vertical=rng.random() < 0.5,
        small=small,
        base=rng.choice((0x8000, 0xC000)) if small else 0x8000,
        filler=rng.randrange(256),
        patterns=b"" if pattern_ram else _patterns(rng, 0x2000),
        tables=_tables(rng),
        setup=writer.setup(pattern_ram),
        main=writer.blocks(rng.randint(4, 40)),
        nmi=keep_flags + writer.blocks(rng.choice((0, 0, 1, 3, 8, 16))),
        irq=writer.blocks(rng.choice((0, 0, 0, 2))),
    )


def _patterns(rng: random.Random, size: int) -> bytes:
    """Returns patterns of random density: full ones cause sprite hits at once, empty ones never."""
    keep = rng.choice((0xFF, 0x81, 0x18, 0x01, 0x80, 0x3C))
    empty = rng.choice((0.0, 0.3, 0.8))
    return b"".join(
        bytes(16) if rng.random() < empty else bytes(b & keep for b in rng.randbytes(16))
        for _ in range(size // 16)
    )


def _tables(rng: random.Random) -> bytes:
    tables = bytearray(_patterns(rng, TABLES_SIZE))
    tables[:0x400] = rng.randbytes(0x400)
    tables[SPRITES_AT : SPRITES_AT + 256] = _sprites(rng)
    tables[PALETTE_AT : PALETTE_AT + 32] = rng.randbytes(32)
    return bytes(tables)


def _sprites(rng: random.Random) -> bytes:
    """Returns 64 sprites, many of them on the same few lines, with many or few different tiles."""
    sprites = bytearray(rng.randbytes(256))
    share = rng.choice((0.0, 0.2, 0.7, 1.0))
    crowded = [rng.randrange(240) for _ in range(rng.choice((1, 3, 7)))]
    tiles = rng.choice((0xFF, 0x03))
    for i in range(64):
        if rng.random() < share:
            sprites[4 * i] = (rng.choice(crowded) + rng.randrange(6)) & 0xFF
        elif rng.random() < 0.4:
            sprites[4 * i] = rng.randrange(0xEF, 0x100)
        sprites[4 * i + 1] &= tiles
    sprites[0] = rng.choice((rng.randrange(240), rng.randrange(8, 40), sprites[0]))
    sprites[3] = rng.choice((sprites[3], rng.randrange(16), rng.randrange(244, 256)))
    return bytes(sprites)
