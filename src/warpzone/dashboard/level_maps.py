"""Maps of levels as PNG, drawn from the user's ROM once and kept in the user's cache folder."""

from __future__ import annotations

import hashlib
import io
import json
import os
import threading
from pathlib import Path
from typing import NamedTuple

import platformdirs
from PIL import Image

from warpzone.envs.level_map import draw_level_map
from warpzone.rom.locate import load_game
from warpzone.system.atomic_file import write_atomically, write_text_atomically

_VERSION = 1
"""Part of the file names; raise it when maps are drawn differently."""


class StoredMap(NamedTuple):
    """A map.

    Attributes:
        png: The image.
        area: The area that it shows.
        width: In pixels.
        height: In pixels.
    """

    png: bytes
    area: int
    width: int
    height: int


def cache_folder() -> Path:
    """The folder of maps: below `WARPZONE_DATA_DIR`, or the user's cache folder."""
    configured = os.environ.get("WARPZONE_DATA_DIR")
    if configured:
        return Path(configured).expanduser() / "maps"
    return platformdirs.user_cache_path("warpzone", appauthor=False) / "maps"


class LevelMaps:
    """Draws each map once; safe to use from several threads."""

    def __init__(self, folder: Path | None = None) -> None:
        """Draws nothing yet.

        Args:
            folder: Where maps are kept; `cache_folder()` by default.
        """
        self._folder = folder or cache_folder()
        self._maps: dict[tuple[str, str, str], StoredMap] = {}
        self._lock = threading.Lock()

    def get(self, game: str, level: str, rom: str) -> StoredMap:
        """The map of a level.

        Args:
            game: 'smb' or 'lost-levels'.
            level: A level of the game.
            rom: ROM file; the installed one if empty.

        Raises:
            RomError: There is no usable ROM.
        """
        with self._lock:  # One at a time: a map takes a second of a core.
            key = game, level, rom
            if key not in self._maps:
                image = load_game(game, rom or None)
                self._maps[key] = self._load(image, game, level)
            return self._maps[key]

    def _load(self, rom: bytes, game: str, level: str) -> StoredMap:
        digest = hashlib.sha256(rom).hexdigest()[:16]
        name = f"{game}-{level}-{digest}-{_VERSION}"
        kept = _read(self._folder / name)
        if kept is not None:
            return kept
        drawn = draw_level_map(rom, game, level)
        file = io.BytesIO()
        Image.fromarray(drawn.image).save(file, "PNG")
        height, width = drawn.image.shape[:2]
        made = StoredMap(file.getvalue(), drawn.area, width, height)
        _keep(self._folder / name, made)
        return made


def _read(name: Path) -> StoredMap | None:
    try:
        facts = json.loads(name.with_suffix(".json").read_bytes())
        png = name.with_suffix(".png").read_bytes()
        return StoredMap(png, int(facts["area"]), int(facts["width"]), int(facts["height"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None  # Not drawn yet, or damaged: it is drawn again.


def _keep(name: Path, made: StoredMap) -> None:
    facts = {"area": made.area, "width": made.width, "height": made.height}
    try:
        name.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(name.with_suffix(".png"), lambda file: file.write(made.png))
        write_text_atomically(name.with_suffix(".json"), json.dumps(facts))
    except OSError:
        return  # A full or read-only disk: the map stays in memory.
