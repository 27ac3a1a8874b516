"""The public test ROMs pass, with and without the fast path."""

from __future__ import annotations

import os
import re
from pathlib import Path

import public_roms
import pytest

import warpzone

FOLDER = os.environ.get("WARPZONE_TEST_ROMS")

pytestmark = [
    pytest.mark.reference,
    pytest.mark.skipif(
        FOLDER is None,
        reason="WARPZONE_TEST_ROMS is not set to a folder of public test ROMs",
    ),
]

BOTH_MODES = pytest.mark.parametrize("exact", [False, True], ids=["fast", "exact"])
NESTEST_LINE = re.compile(
    r"(?P<pc>[0-9A-F]{4}) .*A:(?P<a>..) X:(?P<x>..) Y:(?P<y>..) P:(?P<p>..) SP:(?P<sp>..)"
    r".*CYC:(?P<cycles>\d+)"
)


def rom_folder() -> Path:
    assert FOLDER is not None
    return Path(FOLDER)


def as_parameter(rom: public_roms.TestRom) -> object:
    marks = [pytest.mark.xfail(reason=rom.known_fault)] if rom.known_fault else []
    return pytest.param(rom, marks=marks, id=rom.name)


@BOTH_MODES
@pytest.mark.parametrize("rom", [as_parameter(rom) for rom in public_roms.ROMS])
def test_public_rom_passes(rom: public_roms.TestRom, exact: bool) -> None:
    if not (rom_folder() / rom.path).exists():
        pytest.skip(f"{rom.path} is not in {FOLDER}")
    verdict = public_roms.run(rom, rom_folder(), exact)
    assert verdict.passed, verdict.text


def test_nestest_matches_its_log_line_by_line() -> None:
    nes = warpzone.Console(str(rom_folder() / "other/nestest.nes"), exact=True)
    log = (rom_folder() / "other/nestest.log").read_text().splitlines()
    nes.cpu.pc = 0xC000  # the entry point for automated runs
    nes.cpu.p, nes.cpu.sp = 0x24, 0xFD
    first_cycle: int | None = None
    for number, line in enumerate(log, start=1):
        match = NESTEST_LINE.match(line)
        assert match is not None, f"line {number} of the log cannot be parsed: {line}"
        wanted = {key: int(match[key], 16) for key in ("pc", "a", "x", "y", "p", "sp")}
        # The log starts after the seven cycles of reset, our count wherever the reset left it.
        offset = nes.cycle_count - int(match["cycles"])
        first_cycle = offset if first_cycle is None else first_cycle
        found = {key: getattr(nes.cpu, key) for key in wanted}
        found["p"] = found["p"] & ~0x10 | 0x20  # B and the unused bit are not flip-flops
        assert (found, offset) == (wanted, first_cycle), f"line {number}: {line}"
        nes.step_instruction()
    assert (nes.peek(0x02), nes.peek(0x03)) == (0, 0)
