"""Finding and reading ROMs. No ROM is part of this project."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from warpzone.errors import RomError, UnknownRomWarning
from warpzone.rom.download import WheelMember
from warpzone.rom.image import (
    GAMES,
    IMAGE_SIZE,
    LOST_LEVELS,
    SMB,
    RomInfo,
    canonical,
    identify,
)

__all__ = [
    "GAMES",
    "LOST_LEVELS",
    "SMB",
    "RomInfo",
    "RomStatus",
    "data_folder",
    "find_rom",
    "identify",
    "installed_file",
    "is_file",
    "load_game",
    "read_checked",
    "read_rom",
    "status",
    "wheel_member",
]

# Far larger than any ROM, and small enough to read safely.
_LARGEST_READ = 1024 * 1024
_LONGEST_SHOWN = 80


@dataclass(frozen=True)
class _GameFile:
    """Where one game's ROM is looked for, and where it comes from."""

    variable: str
    file_name: str
    source: WheelMember


_FILES = {
    SMB: _GameFile(
        "WARPZONE_ROM",
        "super-mario-bros.nes",
        WheelMember(
            "gym_super_mario_bros/_roms/super-mario-bros.nes",
            "ec299b990e8bfee8ba46e3f61d63b2e1ae5b8a2e431de84e2e4bbd692dc53586",
        ),
    ),
    LOST_LEVELS: _GameFile(
        "WARPZONE_ROM_LOST_LEVELS",
        "super-mario-bros-2.nes",
        WheelMember(
            "gym_super_mario_bros/_roms/super-mario-bros-2.nes",
            "d133358f74e8ac78b7f61259866428770da6b84bf5dcd3645e47fc962c5ba45f",
        ),
    ),
}


@dataclass(frozen=True)
class RomStatus:
    """One game's ROM as `warpzone rom status` shows it.

    Attributes:
        game: One of `GAMES`.
        path: The file in use, or None when there is none.
        info: What the file is, or None when it is missing or unusable.
        problem: Why the game cannot start, or None.
    """

    game: str
    path: Path | None
    info: RomInfo | None
    problem: str | None


def data_folder() -> Path:
    """Returns the folder of installed ROMs: `WARPZONE_DATA_DIR`, or the user's data folder."""
    configured = os.environ.get("WARPZONE_DATA_DIR")
    if configured:
        return Path(configured).expanduser() / "roms"
    return platformdirs.user_data_path("warpzone", appauthor=False) / "roms"


def installed_file(game: str) -> Path:
    """Returns where a game's ROM is installed, whether it is there or not."""
    return data_folder() / _game_file(game).file_name


def wheel_member(game: str) -> WheelMember:
    """Returns what `warpzone rom install` fetches for a game."""
    return _game_file(game).source


def has_rom(game: str = SMB) -> bool:
    """Whether a ROM of a game is installed, or named by its environment variable."""
    file = _game_file(game)
    return bool(os.environ.get(file.variable)) or installed_file(game).is_file()


def find_rom(game: str = SMB, path: str | os.PathLike[str] | None = None) -> Path:
    """Returns the file to use for a game, without reading it.

    Args:
        game: One of `GAMES`.
        path: Explicit file; it comes before `WARPZONE_ROM` (`WARPZONE_ROM_LOST_LEVELS` for the
            Lost Levels), which comes before the installed ROM.

    Raises:
        RomError: If the first of these that is given does not exist.
    """
    file = _game_file(game)
    if path is not None:
        return _existing(Path(path).expanduser(), "given as the ROM")
    configured = os.environ.get(file.variable)
    if configured:
        return _existing(Path(configured).expanduser(), f"named by {file.variable}")
    installed = installed_file(game)
    if is_file(installed, "where the game is installed"):
        return installed
    raise RomError(
        f"no ROM of the game '{game}' is installed; run `warpzone rom install`, or"
        f" `warpzone rom import FILE`, or set {file.variable} to a file"
    )


def read_rom(path: str | os.PathLike[str], game: str | None = None) -> bytes:
    """Reads and checks a ROM.

    Args:
        path: The file.
        game: The game it must be, or None for either.

    Returns:
        The ROM with a plain iNES header, so that copies of one dump are equal.

    Raises:
        RomError: If the file cannot be read or is not the game.
    """
    image, info = read_checked(Path(path))
    if game is not None:
        _game_file(game)
        if info.game is not None and info.game != game:
            raise RomError(
                f"{path} is {info.name}, but the game '{game}' was requested; give its ROM, or"
                " run `warpzone rom install`"
            )
    if not info.known:
        warnings.warn(
            f"{path} is not a known dump (SHA-256 {info.sha256}); levels and infos may be wrong",
            UnknownRomWarning,
            stacklevel=2,
        )
    return canonical(image)


def load_game(game: str = SMB, path: str | os.PathLike[str] | None = None) -> bytes:
    """Finds, reads and checks the ROM of a game: `find_rom` and `read_rom` together."""
    return read_rom(find_rom(game, path), game)


def status() -> list[RomStatus]:
    """Returns for each game which file is in use and what it is."""
    return [_status_of(game) for game in GAMES]


def _status_of(game: str) -> RomStatus:
    path: Path | None = None
    try:
        path = find_rom(game)
        info = read_checked(path)[1]
    except RomError as error:
        return RomStatus(game, path, None, str(error))
    return RomStatus(game, path, info, None)


def _game_file(game: str) -> _GameFile:
    if game not in _FILES:
        raise RomError(f"unknown game '{game}'; choose one of {', '.join(GAMES)}")
    return _FILES[game]


def is_file(path: Path, origin: str) -> bool:
    """Whether a file exists; `origin` says in errors where its path comes from."""
    try:
        return path.is_file()
    except OSError as error:  # For example a name that is too long.
        shown = str(path) if len(str(path)) <= _LONGEST_SHOWN else f"{str(path)[:_LONGEST_SHOWN]}…"
        raise RomError(
            f"{shown}, {origin}, cannot be used ({error.strerror}); give the path of a .nes file"
        ) from error


def _existing(path: Path, origin: str) -> Path:
    if not is_file(path, origin):
        kind = "is a folder" if path.is_dir() else "does not exist"
        raise RomError(f"{path}, {origin}, {kind}; give the path of a .nes file")
    return path


def read_checked(path: Path) -> tuple[bytes, RomInfo]:
    """Reads a ROM as it is and identifies it.

    Raises:
        RomError: If the file cannot be read or is not the game.
    """
    path = _existing(path, "given as the ROM")
    try:
        size = path.stat().st_size
        if size > _LARGEST_READ:
            raise RomError(
                f"{path} has {size:,} bytes, but the game has {IMAGE_SIZE:,}; give the path of"
                " Super Mario Bros., or run `warpzone rom install`"
            )
        image = path.read_bytes()
    except OSError as error:
        raise RomError(
            f"{path} cannot be read ({error.strerror}); check its permissions"
        ) from error
    return image, identify(image, str(path))
