"""An unknown dump never takes the place of a good image by accident."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import warpzone
from warpzone.cli import main
from warpzone.envs.backends.native import check_start
from warpzone.errors import EnvError, RomError, UnknownRomWarning
from warpzone.rom import locate as roms
from warpzone.rom.install import import_rom

HEADER_SIZE = 16
RESET_VECTOR = HEADER_SIZE + 0x7FFC


@pytest.fixture
def image(rom_path: Path) -> bytes:
    return rom_path.read_bytes()


@pytest.fixture
def unknown(tmp_path: Path, image: bytes) -> Path:
    """The game with one changed graphics byte."""
    path = tmp_path / "unknown.nes"
    path.write_bytes(image[:-1] + bytes([image[-1] ^ 0xFF]))
    return path


def endless(image: bytearray) -> None:
    """Power-on leads to a loop."""
    image[HEADER_SIZE : HEADER_SIZE + 3] = b"\x4c\x00\x80"
    image[RESET_VECTOR : RESET_VECTOR + 2] = b"\x00\x80"


def jammed(image: bytearray) -> None:
    """Power-on leads to an instruction that stops the processor."""
    image[HEADER_SIZE] = 0x02
    image[RESET_VECTOR : RESET_VECTOR + 2] = b"\x00\x80"


def into_registers(image: bytearray) -> None:
    """Power-on leads to the registers of the picture unit."""
    image[RESET_VECTOR : RESET_VECTOR + 2] = b"\x00\x20"


broken = pytest.mark.parametrize("spoil", [endless, jammed, into_registers])


def spoilt(path: Path, image: bytes, spoil: Callable[[bytearray], None]) -> Path:
    changed = bytearray(image)
    spoil(changed)
    path.write_bytes(changed)
    return path


def test_an_unknown_dump_keeps_the_good_image(
    data_folder: Path, rom_path: Path, unknown: Path, image: bytes
) -> None:
    installed = import_rom(rom_path)
    with pytest.raises(RomError, match=r"unknown\.nes is not a known dump.*--force"):
        import_rom(unknown)
    assert installed.read_bytes()[HEADER_SIZE:] == image[HEADER_SIZE:]
    with pytest.warns(UnknownRomWarning):
        assert import_rom(unknown, force=True) == installed
    assert installed.read_bytes()[HEADER_SIZE:] == unknown.read_bytes()[HEADER_SIZE:]


def test_an_unknown_dump_replaces_nothing_or_a_damaged_image_without_force(
    data_folder: Path, rom_path: Path, unknown: Path
) -> None:
    with pytest.warns(UnknownRomWarning):
        installed = import_rom(unknown)
    with pytest.warns(UnknownRomWarning):
        assert import_rom(unknown) == installed, "the same image again"
    installed.write_bytes(b"damaged")
    with pytest.warns(UnknownRomWarning):
        import_rom(unknown)
    assert roms.find_rom() == installed
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        import_rom(rom_path)  # A known dump needs no --force.


@broken
def test_an_unknown_dump_that_does_not_boot_is_not_installed(
    data_folder: Path, tmp_path: Path, image: bytes, spoil: Callable[[bytearray], None]
) -> None:
    path = spoilt(tmp_path / "broken.nes", image, spoil)
    with pytest.raises(EnvError, match=r"1-1 did not start.*rom status"):
        import_rom(path, force=True, try_out=check_start)
    assert not roms.installed_file("smb").exists()


@broken
def test_an_image_that_does_not_boot_is_one_sentence(
    tmp_path: Path, image: bytes, spoil: Callable[[bytearray], None]
) -> None:
    path = spoilt(tmp_path / "broken.nes", image, spoil)
    with pytest.warns(UnknownRomWarning):
        env, single = warpzone.make_vec(rom=path), warpzone.MarioEnv(rom=path)
    for reset in (env.reset, single.reset):
        with pytest.raises(EnvError, match="level 1-1 did not start") as refused:
            reset(seed=0)
        assert "\n" not in str(refused.value)


def test_the_command_keeps_the_good_image_unless_forced(
    data_folder: Path,
    rom_path: Path,
    unknown: Path,
    image: bytes,
    capsys: pytest.CaptureFixture[str],
) -> None:
    installed = import_rom(rom_path)
    assert main(["rom", "import", str(unknown)]) == 2
    output = capsys.readouterr()
    assert "--force" in output.err
    assert "Traceback" not in output.err
    assert installed.read_bytes()[HEADER_SIZE:] == image[HEADER_SIZE:]
    assert main(["rom", "import", str(unknown), "--force"]) == 0
    assert installed.read_bytes()[HEADER_SIZE:] == unknown.read_bytes()[HEADER_SIZE:]


def test_the_command_refuses_a_dump_that_does_not_boot_in_one_sentence(
    data_folder: Path, tmp_path: Path, image: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    path = spoilt(tmp_path / "broken.nes", image, jammed)
    assert main(["rom", "import", str(path), "--force"]) == 2
    output = capsys.readouterr()
    assert "did not start" in output.err
    assert "Traceback" not in output.err
    assert not roms.installed_file("smb").exists()
