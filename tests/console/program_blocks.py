"""The blocks that random programs consist of: register writes, delays, polling loops and noise."""

from __future__ import annotations

import random

from assembler import OPCODES

# Loops that end when a flag in the PPU's status register is set or cleared. $10 counts interrupts.
POLLS = (
    "w: BIT $2002; BVC w",
    "w: BIT $2002; BVS w",
    "w: BIT $2002; BPL w",
    "w: BIT $2002; BMI w",
    "w: LDA $2002; BPL w",
    "w: LDX $2002; BPL w",
    "w: LDY $2002; BPL w",
    "w: LDA $200A; AND #$40; BEQ w",
    "w: LDA $2002; AND #$40; BNE w",
    "w: LDA $2002; AND #$20; BEQ w",
    "w: LDA $2002; AND #$20; BNE w",
    "w: LDA $2002; AND #$C0; BEQ w",
    "w: LDA $3FFA; AND #$E0; BEQ w",
    "w: LDA $2002; ASL A; BPL w",
    "w: LDA $2002; ASL A; ASL A; BCC w",
    "w: LDA $2002; ASL A; BCC w",
    "w: LDY $2002; TYA; ASL A; BPL w",
    "w: LDX $2002; TXA; AND #$60; BEQ w",
    "w: LDA #$20; BIT $2002; BEQ w",
    "w: LDA #$C0; BIT $2002; BEQ w",
    "w: LDA $2002; LSR A; AND #$70; BEQ w",
    "w: BIT $2002; NOP; BVC w",
    "w: NOP; NOP; NOP; BIT $2002; BVC w",
    "w: BIT $2002; BIT $2002; BPL w",
    "w: BIT $2002; LDA $2002; AND #$C0; BEQ w",
    "w: LDA $2002; ORA $10; AND #$E0; BEQ w",
    "w: LDA $2002; EOR #$FF; AND #$40; BNE w",
    "w: LDA $2002; CMP #$40; BCC w",
    "w: LDX $2002; CPX #$80; BCC w",
    "w: LDA $2002; STA $20; BPL w",
    "w: INX; BIT $2002; BVC w",
    "w: INC $21; LDA $2002; AND #$C0; BEQ w",
    "w: LDA $2002; EOR $2002; BEQ w",
    "w: BIT $2002; BVC s; JMP o; s: BIT $2002; BPL w; o: NOP",
    "a: LDA $2002; AND #$40; BNE a; LDY #$10; b: LDA $2002; AND #$C0; BEQ b",
    "LDA $10; w: CMP $10; BEQ w",
    "LDX $10; w: CPX $0810; BEQ w",
    "LDA $10; w: EOR $10; BNE o; LDA $10; JMP w; o: NOP",
    "w: LDA $10; BIT $2002; CMP $10; BEQ w",
    "LDX #$60; w: BIT $2002; BVS o; DEX; BNE w; o: NOP",
    "LDY #$00; w: LDA $2002; AND #$60; BNE o; INY; BNE w; o: STY $22",
    "w: LDA $4015; AND #$40; BEQ w",
    "w: LDA $4015; AND #$01; BNE w",
    "w: LDA $4016; LSR A; BCC w",
    "w: LDA $2007; BEQ w",
    "w: LDA $2004; AND #$80; BEQ w",
)

# `#N` stands for a random byte.
DELAYS = (
    "LDX #N; w: DEX; BNE w",
    "LDY #N; w: DEY; BNE w",
    "LDX #N; w: NOP; DEX; BNE w",
    "LDX #N; w: INX; BNE w",
    "LDX #N; w: DEX; BPL w",
    "LDX #N; w: DEX; CPX #$05; BCS w",
    "LDA #N; SEC; w: SBC #$01; BNE w",
    "LDA #N; w: LSR A; BNE w",
    "LDA #N; ORA #$01; w: ASL A; BCC w",
    "LDY #$03; o: LDX #N; w: DEX; BNE w; DEY; BNE o",
    "LDX #$04; o: LDY #N; w: DEY; BNE w; DEX; BNE o",
    "LDX #N; w: DEX; BEQ o; JMP w; o: NOP",
    "NOP; NOP; NOP",
    "NOP",
    "LDA $20",
    "PHA; PLA",
)

NOISE = (
    "PHP; PLA; STA $23",
    "LDA #N; PHA; PLP",
    "SEI",
    "CLI",
    "SED; CLD",
    "TSX; STX $24",
    "BRK; NOP",
    "LDA $10; ADC $2002; STA $25",
    "LDX #N; LDA $0300,X; ADC $03FF,X; ROL $0300,X; STA $0400,X",
    "LDY #N; LDA ($00),Y; EOR ($00,X); STA ($04),Y",
    "STA $8000; INC $8123; LDA $8001; STA $6010; INC $6010; LDX $6010",
    "JSR s; JMP o; s: RTS; o: NOP",
    "LDA #$AD; STA $06E0; LDA #N; STA $06E1; LDA #$20; STA $06E2; LDA #$60; STA $06E3; JSR $06E0",
    "LDA #$EE; STA $6000; LDA #$07; STA $6001; LDA #$20; STA $6002; LDA #$60; STA $6003; JSR $6000",
    ".byte $AF $02 $20",  # LAX $2002
    ".byte $8F $01 $20",  # SAX $2001
    ".byte $CF $07 $20",  # DCP $2007
    ".byte $EF $01 $20",  # ISC $2001
    ".byte $0C $07 $20",  # NOP $2007
    ".byte $0F $05 $20",  # SLO $2005
    ".byte $4B $7F; .byte $6B $3F; .byte $CB $04",
    "LDY #N; .byte $9C $F8 $1F",  # SHY $1FF8,X
)

SOUND = (
    "LDA #N; STA $4017",
    "LDA #$40; STA $4017",
    "LDA #$00; STA $4017",
    "LDA #$C0; STA $4017",
    "LDA #N; STA $4015",
    "LDA #$0F; STA $4015; LDA #N; STA $4003; STA $400B; STA $4007",
    "LDA #$00; STA $4013; LDA #N; STA $4010; LDA #$10; STA $4015",
    "LDA #$8F; STA $4010; LDA #$01; STA $4013; LDA #$1F; STA $4015",
    "LDA #N; STA $4000; STA $400C",
    "LDA $4015; STA $26",
)


# `R` stands for X or Y. Loops that fill memory, and one-byte instructions in a row.
FILLS = (
    "LDR #N; w: STA $0300,R; INR; BNE w",
    "LDR #N; w: STA $0200,R; INR; INR; INR; INR; BNE w",
    "LDR #N; w: STA $07C0,R; INR; INR; INR; BNE w",
    "LDR #N; w: STA $0300,R; STA $0400,R; DER; BNE w",
    "LDR #N; w: STA $2100,R; INR; BNE w",
    "LDR #N; w: LDA $8000,R; STA $0400,R; INR; BPL w",
)
CHAINS = ("INX", "INY", "DEX", "DEY", "ASL A", "LSR A", "ROL A", "NOP", "PHA")

# Instructions for arithmetic blocks: everything that does not change the control flow.
_STRAIGHT_LINE = tuple(
    (name, mode)
    for name, mode in OPCODES
    if mode != "rel" and name not in ("BRK", "JMP", "JSR", "RTI", "RTS", "TXS", "PLP", "CLI")
)


class BlockWriter:
    """Generates random blocks."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.sound_probability = rng.choice((0.0, 0.0, 0.03, 0.1))
        # Half of all programs use only a few kinds of blocks.
        few_kinds = rng.random() < 0.5
        kinds = (
            (self.register_write, 20),
            (self.mask_write, 8),
            (self.control_write, 6),
            (self.flicker, 8),
            (self.scroll, 8),
            (self.data_burst, 5),
            (self.register_read, 5),
            (self.delay, 20),
            (self.poll, 9),
            (self.sprite_dma, 5),
            (self.sprite_write, 5),
            (self.spin, 4),
            (self.pads, 1),
            (self.noise, 4),
            (self.arithmetic, 12),
            (self.fill, 3),
            (self.chain, 3),
        )
        self.kinds = rng.sample(kinds, 4) if few_kinds else kinds

    def blocks(self, count: int) -> tuple[str, ...]:
        """Generates `count` blocks."""
        functions, weights = zip(*self.kinds, strict=True)
        chosen = self.rng.choices(functions, weights, k=count)
        return tuple(
            self.sound() if self.rng.random() < self.sound_probability else f() for f in chosen
        )

    def setup(self, pattern_ram: bool) -> tuple[str, ...]:
        """Fills the PPU's memory and enables rendering."""
        # Copies page by page from the tables, which are 16 pages long.
        fill = (
            "LDA #HIGH; STA $2006; LDA #$00; STA $2006; STA $00; TAY; LDX #COUNT; LDA #$80;"
            " STA $01; w: LDA ($00),Y; STA $2007; INY; BNE w; INC $01; LDA $01; AND #$8F;"
            " STA $01; DEX; BNE w"
        )
        parts = [
            "CLD; LDA #$00; STA $2000; STA $2001; BIT $2002",
            "LDX #$00; c: LDA sprites,X; STA $0200,X; STA $0700,X; INX; BNE c",
            "LDA #$3F; STA $2006; LDA #$00; STA $2006; TAX;"
            " p: LDA palette,X; STA $2007; INX; CPX #$20; BNE p",
        ]
        if self.rng.random() < 0.9:
            parts.append(fill.replace("HIGH", "$20").replace("COUNT", "$10"))
        if pattern_ram:
            pages = self.rng.choice(("$10", "$20"))
            parts.append(fill.replace("HIGH", "$00").replace("COUNT", pages))
        if self.rng.random() < 0.8:
            parts.append("LDA #$02; STA $4014")
        if self.rng.random() < 0.7:
            parts.append("LDA #$40; STA $4017")
        parts.append(self.control_write())
        parts.append("LDA #$1E; STA $2001")
        return tuple(parts)

    def byte(self) -> str:
        """Returns a random byte in assembly syntax."""
        return f"${self.rng.randrange(256):02X}"

    def address(self, register: int) -> str:
        """Returns a random address of a register, mostly the first."""
        mirror = self.rng.randrange(0x400) if self.rng.random() < 0.2 else 0
        return f"${0x2000 + 8 * mirror + register:04X}"

    def register_write(self) -> str:
        """Writes to any register, by any kind of access."""
        rng = self.rng
        register = rng.choice((0, 1, 3, 4, 5, 5, 6, 6, 7, 7, 2))
        address, value = self.address(register), self.byte()
        index = rng.randrange(256)
        below = f"${0x2000 + 8 * 64 + register - index:04X}"
        return rng.choice(
            (
                f"LDA #{value}; STA {address}",
                f"LDX #{value}; STX {address}",
                f"LDY #{value}; STY {address}",
                f"STA {address}",
                f"LDX #${index:02X}; LDA #{value}; STA {below},X",
                f"LDY #${index:02X}; LDA #{value}; STA {below},Y",
                f"LDA #${register:02X}; STA $02; LDA #$20; STA $03; LDY #$00; STA ($02),Y",
                f"{rng.choice(('INC', 'DEC', 'ASL', 'ROR'))} {address}",
            )
        )

    def mask_write(self) -> str:
        """Writes the mask register; rendering is mostly enabled."""
        value = self.rng.choice(("$1E", "$1E", "$18", "$08", "$10", "$00", "$0A", self.byte()))
        return f"LDA #{value}; STA {self.address(1)}"

    def control_write(self) -> str:
        """Writes the control register; NMIs are mostly enabled."""
        value = self.rng.randrange(128) | (0x80 if self.rng.random() < 0.8 else 0)
        return f"LDA #${value:02X}; STA {self.address(0)}"

    def flicker(self) -> str:
        """Changes a register twice within one or two scanlines."""
        rng = self.rng
        register = rng.choice((0, 1, 1, 1, 5))
        first, second = self.byte(), self.byte()
        if register == 1:
            first, second = rng.sample(("$1E", "$18", "$08", "$10", "$00", "$E1", self.byte()), 2)
        between = "; ".join(
            rng.choice(("NOP", "LDA $20", "PHA; PLA")) for _ in range(rng.randrange(12))
        )
        return f"LDX #{first}; LDY #{second}; STX $200{register}; {between}; STY $200{register}"

    def scroll(self) -> str:
        """Scrolls in the usual ways, in the middle of a frame."""
        a, b, c, d = (self.byte() for _ in range(4))
        return self.rng.choice(
            (
                f"BIT $2002; LDA #{a}; STA $2005; LDA #{b}; STA $2005",
                f"LDA #{a}; STA $2005; STA $2005",
                f"LDA #{a}; STA $2005",
                f"BIT $2002; LDA #{a}; STA $2006; LDA #{b}; STA $2006",
                f"BIT $2002; LDA #{a}; STA $2006; LDA #{b}; STA $2005; LDA #{c}; STA $2005;"
                f" LDA #{d}; STA $2006",
                f"LDA #{a}; STA $2006; STA $2006",
            )
        )

    def data_burst(self) -> str:
        """Accesses VRAM several times, with or without setting the address first."""
        high = f"${self.rng.choice((0x20, 0x23, 0x2B, 0x3F, 0x3F, 0x10, 0x00, 0x00, 0x27)):02X}"
        low = f"${self.rng.randrange(self.rng.choice((0x20, 0x100))):02X}"
        move = f"BIT $2002; LDA #{high}; STA $2006; LDA #{low}; STA $2006"
        access = self.rng.choice(("STA $2007", "LDA $2007; STA $27", "STX $2007", "LDY $2007"))
        burst = "; ".join([access] * self.rng.randint(1, 6))
        return f"{move}; {burst}" if self.rng.random() < 0.7 else burst

    def register_read(self) -> str:
        """Reads a register and stores the value in RAM, where a difference remains visible."""
        register = self.rng.choice((0, 2, 2, 2, 4, 4, 5, 7, 7))
        load, store = self.rng.choice((("LDA", "STA"), ("LDX", "STX"), ("LDY", "STY")))
        return self.rng.choice(
            (
                f"{load} {self.address(register)}; {store} ${self.rng.randrange(0x28, 0x80):02X}",
                f"LDX $14; LDA {self.address(register)}; STA $0500,X; INC $14",
                f"LDX #$02; LDA $20{register:02X},X; STA $28",
                f"BIT {self.address(register)}; PHP; PLA; STA $29",
            )
        )

    def delay(self) -> str:
        """Wastes time, mostly in loops."""
        limit = self.rng.choice((8, 40, 256))
        return self.rng.choice(DELAYS).replace("#N", f"#${self.rng.randrange(limit):02X}")

    def poll(self) -> str:
        """Waits in a polling loop."""
        return self.rng.choice(POLLS)

    def sprite_dma(self) -> str:
        """Starts a sprite DMA, mostly from the sprite page, sometimes from registers or ROM."""
        page = self.rng.choice((0x02, 0x02, 0x02, 0x07, 0x0A, 0x00, 0x20, 0x40, 0x60, 0x80, 0xFF))
        return f"LDA #${page:02X}; STA $4014"

    def sprite_write(self) -> str:
        """Changes sprites in RAM, or directly in OAM."""
        address = f"${0x200 + self.rng.choice((0, 1, 2, 3, self.rng.randrange(256))):04X}"
        return self.rng.choice(
            (
                f"LDA #{self.byte()}; STA {address}",
                f"INC {address}",
                f"LDA #{self.byte()}; STA $2003; LDA #{self.byte()}; STA $2004; STA $2004",
                f"LDA #$00; STA $2003; LDA #{self.byte()}; STA $2004; LDX #$00; STX $2004;"
                f" STX $2004; LDX #{self.byte()}; STX $2004",
                "LDA #$00; STA $2003",
            )
        )

    def spin(self) -> str:
        """Jumps to itself until an interrupt ends it."""
        enable_nmi = "LDA #$90; STA $2000; " if self.rng.random() < 0.8 else ""
        return f"{enable_nmi}LDA #$01; STA $11; JMP *"

    def pads(self) -> str:
        """Reads a controller bit by bit."""
        port = self.rng.choice(("$4016", "$4017"))
        return (
            f"LDA #$01; STA $4016; LSR A; STA $4016; LDX #$0A; w: LDA {port}; LSR A; ROL $30;"
            " DEX; BNE w"
        )

    def arithmetic(self) -> str:
        """Executes a sequence of random instructions, some of them skipped, some in a loop."""
        rng = self.rng
        code = [self.instruction() for _ in range(rng.choice((2, 5, 12, 30)))]
        if rng.random() < 0.4:
            branch = rng.choice(("BNE", "BEQ", "BCC", "BCS", "BPL", "BMI", "BVC", "BVS"))
            at = rng.randrange(len(code))
            code[at:at] = [f"{branch} s"]
            code.insert(rng.randrange(at + 1, len(code) + 1), "s:")
        if rng.random() < 0.3:
            code = [f"LDA #{self.byte()}", "STA $1F", "w:", *code, "DEC $1F", "BNE w"]
        return "; ".join(code)

    def instruction(self) -> str:
        """Returns a random instruction, mostly one that accesses memory."""
        name, mode = self.rng.choice(_STRAIGHT_LINE)
        pages = (3, 4, 5, 6, 7, 0x0B, 0x80, 0x81, 0x60, self.rng.randrange(256))
        address = f"${self.rng.choice(pages):02X}{self.rng.randrange(256):02X}"
        zero = f"${self.rng.randrange(256):02X}"
        operand = {
            "imp": "",
            "acc": "A",
            "imm": f"#{self.byte()}",
            "zpg": zero,
            "zpx": f"{zero},X",
            "zpy": f"{zero},Y",
            "abs": address,
            "abx": f"{address},X",
            "aby": f"{address},Y",
            "inx": f"({zero},X)",
            "iny": f"({zero}),Y",
        }
        return f"{name} {operand[mode]}"

    def fill(self) -> str:
        """Fills memory in a loop, from the start or the middle of a page."""
        first = self.rng.choice((0, 0, 0x80, 0xF0, self.rng.randrange(256)))
        text = self.rng.choice(FILLS).replace("#N", f"#${first:02X}")
        register = self.rng.choice("XY")
        return (
            text.replace("DR", f"D{register}")
            .replace("NR", f"N{register}")
            .replace("ER", f"E{register}")
            .replace(",R", f",{register}")
        )

    def chain(self) -> str:
        """Repeats one instruction."""
        return "; ".join([self.rng.choice(CHAINS)] * self.rng.randint(2, 11))

    def noise(self) -> str:
        """Does anything else a program might do."""
        if self.rng.random() < 0.01:
            return ".byte $02"  # KIL: stops the CPU
        return self.rng.choice(NOISE).replace("#N", f"#{self.byte()}")

    def sound(self) -> str:
        """Accesses the APU, which causes interrupts and steals cycles."""
        return self.rng.choice(SOUND).replace("#N", f"#{self.byte()}")
