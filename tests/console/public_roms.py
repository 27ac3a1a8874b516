"""The public NES test ROMs and how each of them reports its result.

The ROMs are not part of this repository. `WARPZONE_TEST_ROMS` is the path of a checkout of a public
collection with the layout of https://github.com/christopherpow/nes-test-roms.

There are three ways of reporting:

* The newer ROMs store a status byte at $6000 and text at $6004, valid once $6001-$6003 contain
  DE B0 61. Status $80 is "running", $81 "press reset", 0 "passed", anything else a failure.
* The ROMs of 2005 store a result code in the zero page (1 = passed, otherwise the number of the
  failed check), print it, and then spin in a jump to itself.
* `cpu_timing_test6` only prints.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import warpzone

SIGNATURE = bytes((0xDE, 0xB0, 0x61))
RUNNING, NEEDS_RESET = 0x80, 0x81
RESET_DELAY_FRAMES = 10  # the ROMs ask for at least 100 ms
# Some of the ROMs of 2005 also wait for an interrupt in a jump to itself for a frame or two.
FINAL_SPIN_FRAMES = 30
JUMP_ABSOLUTE = 0x4C


class Report(Enum):
    """Where a ROM reports its result."""

    STATUS_BYTE = "status byte at $6000"
    RESULT_F8 = "result code at $F8"
    RESULT_F0 = "result code at $F0"
    TEXT = "text on screen"


@dataclass(frozen=True)
class TestRom:
    """One ROM of the collection."""

    __test__ = False  # not a pytest class, despite its name

    path: str
    report: Report
    buttons: int = 0
    max_frames: int = 2500
    known_fault: str = ""  # the hardware behaviour we do not emulate, for a ROM that cannot pass

    @property
    def name(self) -> str:
        """The test ID."""
        held = f"+{self.buttons:02x}" if self.buttons else ""
        return re.sub(r"/(rom_singles/)?", "/", self.path.removesuffix(".nes")) + held


@dataclass(frozen=True)
class Verdict:
    """The result that a ROM reported."""

    passed: bool
    text: str


def _family(folder: str, names: str, report: Report, known_fault: str = "") -> tuple[TestRom, ...]:
    return tuple(
        TestRom(f"{folder}/{name}.nes", report, known_fault=known_fault) for name in names.split()
    )


ROMS: tuple[TestRom, ...] = (
    *_family(
        "instr_test-v5/rom_singles",
        "01-basics 02-implied 03-immediate 04-zero_page 05-zp_xy 06-absolute 07-abs_xy 08-ind_x"
        " 09-ind_y 10-branches 11-stack 12-jmp_jsr 13-rts 14-rti 15-brk 16-special",
        Report.STATUS_BYTE,
    ),
    *_family("instr_timing/rom_singles", "1-instr_timing 2-branch_timing", Report.STATUS_BYTE),
    *_family(
        "instr_misc/rom_singles",
        "01-abs_x_wrap 02-branch_wrap 03-dummy_reads 04-dummy_reads_apu",
        Report.STATUS_BYTE,
    ),
    *_family(
        "branch_timing_tests",
        "1.Branch_Basics 2.Backward_Branch 3.Forward_Branch",
        Report.RESULT_F8,
    ),
    TestRom("cpu_timing_test6/cpu_timing_test.nes", Report.TEXT),
    # Holding B at the start also tests the unofficial instructions.
    TestRom("cpu_timing_test6/cpu_timing_test.nes", Report.TEXT, buttons=0x02),
    *_family(
        "vbl_nmi_timing",
        "1.frame_basics 2.vbl_timing 3.even_odd_frames 4.vbl_clear_timing 5.nmi_suppression"
        " 6.nmi_disable 7.nmi_timing",
        Report.RESULT_F8,
    ),
    *_family(
        "ppu_vbl_nmi/rom_singles",
        "01-vbl_basics 02-vbl_set_time 03-vbl_clear_time 04-nmi_control 05-nmi_timing"
        " 06-suppression 07-nmi_on_timing 08-nmi_off_timing 09-even_odd_frames"
        " 10-even_odd_timing",
        Report.STATUS_BYTE,
    ),
    *_family(
        "sprite_hit_tests_2005.10.05",
        "01.basics 02.alignment 03.corners 04.flip 05.left_clip 06.right_edge 07.screen_bottom"
        " 08.double_height 09.timing_basics 10.timing_order 11.edge_timing",
        Report.RESULT_F8,
    ),
    *_family(
        "blargg_ppu_tests_2005.09.15b",
        "palette_ram power_up_palette sprite_ram vbl_clear_time vram_access",
        Report.RESULT_F0,
    ),
    *_family("oam_read", "oam_read", Report.STATUS_BYTE),
    *_family("oam_stress", "oam_stress", Report.STATUS_BYTE),
    *_family(
        "sprite_overflow_tests",
        "1.Basics 2.Details 3.Timing 4.Obscure 5.Emulator",
        Report.RESULT_F8,
    ),
    *_family(
        "ppu_open_bus",
        "ppu_open_bus",
        Report.STATUS_BYTE,
        known_fault="the PPU's bus latch keeps its value instead of decaying within a second",
    ),
    *_family(
        "apu_test/rom_singles",
        "1-len_ctr 2-len_table 3-irq_flag 4-jitter 5-len_timing 6-irq_flag_timing 7-dmc_basics"
        " 8-dmc_rates",
        Report.STATUS_BYTE,
    ),
    *_family(
        "blargg_apu_2005.07.30",
        "01.len_ctr 02.len_table 03.irq_flag 04.clock_jitter 05.len_timing_mode0"
        " 06.len_timing_mode1 07.irq_flag_timing 08.irq_timing 09.reset_timing"
        " 10.len_halt_timing 11.len_reload_timing",
        Report.RESULT_F0,
    ),
    *_family(
        "apu_reset",
        "4015_cleared 4017_timing 4017_written irq_flag_cleared len_ctrs_enabled works_immediately",
        Report.STATUS_BYTE,
    ),
    *_family(
        "cpu_interrupts_v2/rom_singles",
        "1-cli_latency 2-nmi_and_brk 3-nmi_and_irq 4-irq_and_dma 5-branch_delays_irq",
        Report.STATUS_BYTE,
    ),
    *_family(
        "cpu_dummy_writes", "cpu_dummy_writes_oam cpu_dummy_writes_ppumem", Report.STATUS_BYTE
    ),
    *_family(
        "cpu_exec_space",
        "test_cpu_exec_space_apu test_cpu_exec_space_ppuio",
        Report.STATUS_BYTE,
    ),
    *_family("cpu_reset", "ram_after_reset registers", Report.STATUS_BYTE),
    *_family(
        "sprdma_and_dmc_dma",
        "sprdma_and_dmc_dma sprdma_and_dmc_dma_512",
        Report.STATUS_BYTE,
        known_fault="a sample fetch always takes four cycles, not fewer during sprite DMA",
    ),
)


def run(rom: TestRom, folder: Path, exact: bool) -> Verdict:
    """Runs a ROM until it reports.

    Args:
        rom: ROM to run.
        folder: Folder of the collection.
        exact: Whether to disable the fast path.

    Returns:
        The verdict; a ROM that never reports has not passed.
    """
    import warpzone

    console = warpzone.Console(str(folder / rom.path), exact=exact)
    until_reset, spinning = RESET_DELAY_FRAMES, 0
    for _ in range(rom.max_frames):
        console.run_frame(rom.buttons, render=False)
        if rom.report is not Report.STATUS_BYTE:
            spinning = spinning + 1 if _spins(console) else 0
            if spinning == FINAL_SPIN_FRAMES:
                return _verdict(rom, console)
        elif _status(console) == NEEDS_RESET:
            until_reset -= 1
            if until_reset == 0:
                console.reset()
        else:
            until_reset = RESET_DELAY_FRAMES
            if _status(console) < RUNNING:
                return _verdict(rom, console)
    return Verdict(False, f"no report after {rom.max_frames} frames\n{_screen_text(console)}")


def _verdict(rom: TestRom, console: warpzone.Console) -> Verdict:
    if rom.report is Report.STATUS_BYTE:
        return Verdict(_status(console) == 0, _status_text(console))
    text = _screen_text(console)
    if rom.report is Report.TEXT:
        return Verdict("PASSED" in text, text)
    code = console.peek(0xF8 if rom.report is Report.RESULT_F8 else 0xF0)
    return Verdict(code == 1, f"result code {code}\n{text}")


def _status(console: warpzone.Console) -> int:
    """Returns the status byte, or RUNNING if the signature is not there yet."""
    if bytes(console.peek(0x6001 + i) for i in range(3)) != SIGNATURE:
        return RUNNING
    return console.peek(0x6000)


def _status_text(console: warpzone.Console) -> str:
    text = bytes(console.peek(0x6004 + i) for i in range(0x1000))
    return text.split(b"\0", 1)[0].decode("ascii", "replace")


def _spins(console: warpzone.Console) -> bool:
    """Whether the CPU is in a jump to itself."""
    pc = console.cpu.pc
    opcode, low, high = (console.peek((pc + i) & 0xFFFF) for i in range(3))
    return opcode == JUMP_ABSOLUTE and low | high << 8 == pc


def _screen_text(console: warpzone.Console) -> str:
    """Returns the first nametable as text; these ROMs use ASCII codes as tile numbers."""
    tiles = bytes(console.nametable())[:960]
    printable = "".join(chr(t) if 32 <= t < 127 else " " for t in tiles)
    lines = (printable[i : i + 32].rstrip() for i in range(0, 960, 32))
    return "\n".join(line for line in lines if line)
