"""Invalid images are rejected with a one-line message; valid ones run, with any kind of header."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from assembler import assemble

import warpzone

PROGRAM_UNIT, PATTERN_UNIT = 0x4000, 0x2000
RESULT = 0x10


def image(
    *,
    units: int = 2,
    patterns: int = 1,
    flags6: int = 0,
    flags7: int = 0,
    rest: bytes = bytes(8),
    trainer: bytes = b"",
    source: str = "LDA #$5A; STA $10; JMP *",
) -> bytes:
    """Builds an image whose program leaves $5A at $10."""
    header = b"NES\x1a" + bytes((units, patterns, flags6, flags7)) + rest
    program = bytearray(units * PROGRAM_UNIT)
    code = assemble(source, 0xC000)
    start = len(program) - PROGRAM_UNIT if program else 0
    program[start : start + len(code)] = code
    program[-4:-2] = (0xC000).to_bytes(2, "little")
    return header + trainer + bytes(program) + bytes(patterns * PATTERN_UNIT)


def with_bytes(data: bytes, changes: dict[int, int]) -> bytes:
    changed = bytearray(data)
    for at, value in changes.items():
        changed[at] = value
    return bytes(changed)


GOOD_IMAGES = {
    "32 KiB": image(),
    "16 KiB": image(units=1),
    "vertical mirroring": image(flags6=0x01),
    "battery": image(flags6=0x02),
    "pattern RAM": image(patterns=0),
    "trainer": image(flags6=0x04, trainer=bytes(range(256)) * 2),
    "padded": image() + bytes(1000),
    "NES 2.0": image(flags7=0x08),
    "NES 2.0 with pattern RAM": image(
        patterns=0, flags7=0x08, rest=bytes((0, 0, 0, 7, 0, 0, 0, 0))
    ),
    # Old tools wrote their name over bytes 7-15, so byte 7 is not a mapper number.
    "signed by DiskDude!": image(flags7=0x44, rest=b"iskDude!"),
}

BAD_IMAGES = {
    "empty": (b"", "only 0 bytes"),
    "half a header": (image()[:15], "only 15 bytes"),
    "header alone": (image()[:16], "cut short"),
    "other magic": (with_bytes(image(), {3: 0x00}), "does not begin with"),
    "text": (b"<html>not found</html>" * 9, "does not begin with"),
    "cut in the program": (image()[:20_000], "promises 40976 bytes, it has 20000"),
    "cut by one byte": (image()[:-1], "promises 40976 bytes, it has 40975"),
    "cut trainer": (image(flags6=0x04), "cut short"),
    "mapper 1": (image(flags6=0x10), r"\(mapper\) 1 is not supported"),
    "mapper 16": (image(flags7=0x10), r"\(mapper\) 16 is not supported"),
    "mapper 4095": (
        image(flags6=0xF0, flags7=0xF8, rest=bytes((0x0F, 0, 0, 0, 0, 0, 0, 0))),
        r"\(mapper\) 4095 is not supported",
    ),
    "no program": (with_bytes(image(), {4: 0}), "16 or 32 KiB of program, this header says 0"),
    "48 KiB": (with_bytes(image(), {4: 3}), "16 or 32 KiB of program, this header says 49152"),
    "4 MiB": (with_bytes(image(), {4: 255}), "16 or 32 KiB of program, this header says 4177920"),
    "16 KiB of patterns": (with_bytes(image(), {5: 2}), "at most 8 KiB of patterns"),
    "2 MiB of patterns": (with_bytes(image(), {5: 255}), "at most 8 KiB of patterns"),
    "four screens": (image(flags6=0x08), "four-screen"),
    "NES 2.0, far more program": (
        image(flags7=0x08, rest=bytes((0, 0x01, 0, 0, 0, 0, 0, 0))),
        "more memory than mapper 0 can hold",
    ),
    "NES 2.0, far more patterns": (
        image(flags7=0x08, rest=bytes((0, 0xF0, 0, 0, 0, 0, 0, 0))),
        "more memory than mapper 0 can hold",
    ),
}


@pytest.mark.parametrize("name", GOOD_IMAGES)
@pytest.mark.parametrize("exact", [False, True], ids=["fast", "exact"])
def test_a_valid_image_runs(name: str, exact: bool) -> None:
    nes = warpzone.Console(GOOD_IMAGES[name], exact=exact)
    nes.run_frame()
    assert nes.peek(RESULT) == 0x5A


@pytest.mark.parametrize("name", BAD_IMAGES)
def test_an_invalid_image_is_rejected_with_a_one_line_message(name: str) -> None:
    data, reason = BAD_IMAGES[name]
    with pytest.raises(ValueError, match=reason) as caught:
        warpzone.Console(data)
    assert "\n" not in str(caught.value)


def test_a_16_kib_program_is_mirrored() -> None:
    nes = warpzone.Console(image(units=1))
    assert [nes.peek(0x8000 + i) for i in range(4)] == [nes.peek(0xC000 + i) for i in range(4)]


@pytest.mark.parametrize(("flags6", "same_as_first"), [(0x00, 1), (0x01, 2)])
def test_mirroring_determines_which_nametables_are_shared(flags6: int, same_as_first: int) -> None:
    """Writes to the second and third nametable; the one shared with the first shows up there."""
    write = "LDA #${high}; STA $2006; LDA #$00; STA $2006; LDA #${value}; STA $2007"
    source = "; ".join(
        write.format(high=high, value=value) for high, value in (("24", "01"), ("28", "02"))
    )
    nes = warpzone.Console(image(flags6=flags6, source=f"{source}; JMP *"))
    nes.run_frame()
    assert nes.nametable()[0] == same_as_first


def test_a_path_and_its_bytes_give_the_same_cartridge(tmp_path: Path) -> None:
    path = tmp_path / "game.nes"
    path.write_bytes(image())
    consoles = [warpzone.Console(rom) for rom in (path, str(path), image(), bytearray(image()))]
    for nes in consoles:
        nes.run_frame()
    assert len({nes.save() for nes in consoles}) == 1


def test_the_error_for_a_missing_file_names_it(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.nes"):
        warpzone.Console(tmp_path / "nothing.nes")


@pytest.mark.parametrize("wrong", [None, 5, 1.5, ["game.nes"]])
def test_other_types_raise_a_type_error(wrong: object) -> None:
    with pytest.raises(TypeError):
        warpzone.Console(wrong)  # type: ignore[arg-type]


def test_ram_and_cartridge_ram_can_be_poked_through_every_mirror() -> None:
    nes = warpzone.Console(image())
    nes.poke(0x1810, 7)
    nes.poke(0x7FFF, 9)
    assert (nes.peek(0x0010), nes.ram[0x10], nes.peek(0x7FFF)) == (7, 7, 9)


@pytest.mark.parametrize("address", [0x2000, 0x2002, 0x4014, 0x5FFF, 0x8000, 0xFFFF])
def test_poking_any_other_address_is_rejected(address: int) -> None:
    nes = warpzone.Console(image())
    before = nes.save()
    with pytest.raises((ValueError, IndexError), match=re.escape("only RAM ($0000-$1FFF)")):
        nes.poke(address, 1)
    assert nes.save() == before


@pytest.mark.parametrize(("address", "value"), [(-1, 0), (0x10000, 0), (0, -1), (0, 256)])
def test_poking_out_of_range_values_raises_a_type_error(address: int, value: int) -> None:
    with pytest.raises(TypeError):
        warpzone.Console(image()).poke(address, value)


@pytest.mark.parametrize("buttons", [-1, 256, 1.0, "A", None])
def test_buttons_must_be_a_byte(buttons: object) -> None:
    nes = warpzone.Console(image())
    with pytest.raises(TypeError):
        nes.run_frame(buttons)  # type: ignore[arg-type]
    assert nes.frame_count == 0


def test_peeking_a_register_has_no_effect() -> None:
    nes = warpzone.Console(image(source="LDA #$00; w: BIT $2002; BPL w; STA $10; JMP *"))
    before = nes.save()
    assert [nes.peek(address) for address in range(0x2000, 0x2008)] == [0] * 8
    assert nes.save() == before


def test_screens_and_memories_have_the_documented_shapes_and_types() -> None:
    nes = warpzone.Console(image())
    nes.run_frame()
    shapes = {
        "screen": (nes.screen, (240, 256, 3)),
        "colors": (nes.colors, (240 * 256,)),
        "ram": (nes.ram, (2048,)),
        "nametable": (nes.nametable(), (2048,)),
        "oam": (nes.oam(), (256,)),
        "palette": (nes.palette_ram(), (32,)),
    }
    assert {name: array.shape for name, (array, _) in shapes.items()} == {
        name: shape for name, (_, shape) in shapes.items()
    }
    assert all(array.dtype == np.uint8 for array, _ in shapes.values())
    assert nes.colors.max() < 64


def test_ram_is_a_live_view_that_outlives_its_console() -> None:
    nes = warpzone.Console(image())
    ram = nes.ram
    ram[0x20] = 0x33
    assert nes.peek(0x20) == 0x33
    nes.run_frame()
    assert ram[RESULT] == 0x5A
    del nes
    assert ram[RESULT] == 0x5A


def test_registers_are_readable_and_writable_and_outlive_their_console() -> None:
    nes = warpzone.Console(image())
    cpu = nes.cpu
    cpu.pc, cpu.a, cpu.x, cpu.y, cpu.sp, cpu.p = 0xC123, 1, 2, 3, 4, 0xFF
    assert (cpu.pc, cpu.a, cpu.x, cpu.y, cpu.sp) == (0xC123, 1, 2, 3, 4)
    assert cpu.p == 0xEF  # the break bit only exists on the stack
    del nes
    assert cpu.pc == 0xC123


def test_a_frame_that_is_not_rendered_keeps_the_last_screen(rom_path: Path) -> None:
    nes = warpzone.Console(rom_path)
    nes.run_frames(60, render=True)
    screen = nes.screen
    nes.run_frame(0x08, render=False)
    nes.run_frames(30)
    assert np.array_equal(nes.screen, screen)
    nes.run_frame(0, render=True)
    assert not np.array_equal(nes.screen, screen)


def test_power_on_clears_everything_and_reset_keeps_memory() -> None:
    nes = warpzone.Console(image())
    fresh = nes.save()
    nes.run_frames(3)
    nes.poke(0x700, 0x77)
    nes.reset()
    assert (nes.peek(0x700), nes.cpu.pc) == (0x77, 0xC000)
    nes.power_on()
    assert nes.peek(0x700) == 0
    assert nes.save() == fresh


def test_frames_and_cycles_are_counted() -> None:
    nes = warpzone.Console(image())
    start = nes.cycle_count
    nes.run_frames(100)
    assert nes.frame_count == 100
    # 29,780.67 cycles per frame while rendering is off.
    assert abs(nes.cycle_count - start - 2_978_067) < 30_000
