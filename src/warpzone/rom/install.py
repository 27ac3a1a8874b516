"""Installing ROMs into the data folder: from a file, or from the public wheel."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path

from warpzone.errors import RomError, UnknownRomWarning
from warpzone.rom.download import PACKAGE, download
from warpzone.rom.image import GAMES, SMB, canonical
from warpzone.rom.locate import (
    data_folder,
    installed_file,
    is_file,
    read_checked,
    read_rom,
    wheel_member,
)
from warpzone.system.atomic_file import replacing


def import_rom(
    path: str | os.PathLike[str],
    game: str | None = None,
    *,
    force: bool = False,
    try_out: Callable[[bytes, str], None] | None = None,
) -> Path:
    """Copies a checked ROM into the data folder.

    Args:
        path: The file to copy.
        game: The game to install it as; None takes the known game, and Super Mario Bros. for an
            unknown dump.
        force: Let an unknown dump replace a usable ROM.
        try_out: Gets the ROM and the game of an unknown dump, and raises an error if it does not
            run.

    Returns:
        The installed file.

    Raises:
        RomError: If the file is not the game, or is an unknown dump that would replace a usable
            image; nothing is changed then.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownRomWarning)  # Repeated below, once it is accepted.
        image = read_rom(path, game)
    info = read_checked(Path(path))[1]
    name = game or info.game or SMB
    target = installed_file(name)
    if not info.known:
        if not force:
            _keep_usable(target, image, path)
        if try_out is not None:
            try_out(image, name)
        warnings.warn(
            f"{path} is not a known dump (SHA-256 {info.sha256}); levels and infos may be wrong",
            UnknownRomWarning,
            stacklevel=2,
        )
    return _write_whole(target, image)


def _keep_usable(target: Path, image: bytes, path: str | os.PathLike[str]) -> None:
    """Refuses an unknown dump where another usable ROM is installed."""
    if not is_file(target, "where the game is installed"):
        return
    try:
        installed, info = read_checked(target)
    except RomError:
        return  # What is there cannot be used anyway.
    if canonical(installed) != image:
        raise RomError(
            f"{path} is not a known dump, and {target} ({info.name}) is kept; add --force to "
            "replace it, or use the file without installing it: --rom FILE"
        )


def install(confirm: Callable[[str], bool], report: Callable[[str], None] = print) -> list[Path]:
    """Downloads the public wheel that carries the games and unpacks them into the data folder.

    Usable ROMs that are already installed stay as they are; damaged ones are replaced.

    Args:
        confirm: Gets the text of what will be downloaded and returns whether to continue.
        report: Gets progress messages.

    Returns:
        The installed files, one for each game.

    Raises:
        RomError: If the answer is no, or the download fails or is not what was expected.
    """
    wanted = [game for game in GAMES if not _is_installed(game, report)]
    if wanted:
        if not confirm(_consent_text(data_folder())):
            raise RomError("nothing was installed, because the question was not answered with yes")
        images = download({game: wheel_member(game) for game in wanted})
        for game in wanted:
            _write_whole(installed_file(game), images[game])
            report(f"{game}: installed at {installed_file(game)}")
    return [installed_file(game) for game in GAMES]


def _consent_text(folder: Path) -> str:
    return (
        f"This downloads the public Python package {PACKAGE} with pip and unpacks its ROMs of"
        f" Super Mario Bros. and The Lost Levels into {folder}.\n"
        "The game belongs to Nintendo and is not part of warpzone. Continue only if you may use a"
        " copy of it where you live."
    )


def _is_installed(game: str, report: Callable[[str], None]) -> bool:
    target = installed_file(game)
    if not is_file(target, "where the game is installed"):
        return False
    try:
        read_checked(target)
    except RomError as error:
        report(f"{game}: will be replaced, because {error}")
        return False
    report(f"{game}: already installed at {target}")
    return True


def _write_whole(target: Path, content: bytes) -> Path:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as part:
            part.write_bytes(content)
    except OSError as error:
        raise RomError(
            f"{target} cannot be written ({error.strerror}); check the folder"
        ) from error
    return target
