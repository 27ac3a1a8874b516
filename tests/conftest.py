import signal
from pathlib import Path

import pytest
from explorer import play_until, replay_until

from warpzone.errors import RomError
from warpzone.rom import locate as roms

# A test session in the background may ignore Ctrl-C, and the programs that tests start would
# inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):  # Likewise with `nohup`.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def _installed(game: str) -> Path:
    try:
        return roms.find_rom(game)
    except RomError as error:
        pytest.fail(f"this test needs the real game, and {error}", pytrace=False)


@pytest.fixture(scope="session")
def rom_path() -> Path:
    """Path of the real ROM; the test fails without it, since a skipped test proves nothing."""
    return _installed(roms.SMB)


@pytest.fixture(scope="session")
def lost_levels_path() -> Path:
    return _installed(roms.LOST_LEVELS)


@pytest.fixture(scope="session")
def before_the_flag() -> bytes:
    """Save state near the end of 1-1: running and jumping to the right clears it."""
    return play_until("1-1", 2900)


@pytest.fixture(scope="session")
def before_the_last_axe() -> tuple[bytes, list[int]]:
    """Save state of 8-4, two seconds before the axe, and the buttons of the steps to it."""
    return replay_until("8-4", steps_left=30)


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Empty data folder for the test, without any ROM configured from outside."""
    monkeypatch.setenv("WARPZONE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("WARPZONE_ROM", raising=False)
    monkeypatch.delenv("WARPZONE_ROM_LOST_LEVELS", raising=False)
    return tmp_path / "data" / "roms"
