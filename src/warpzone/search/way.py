"""Ways: inputs that clear a level, as small text files without a byte of the game.

A file looks like this; every line is there, in this order:

    warpzone way 1
    game: smb
    level: 1-1
    ends: 1-2
    rom: 0c4992fc08d2278697339d3b48066e7b5f943598
    frame-skip: 4
    frames: 1515
    area-changes: 0
    seed: 0
    actions:
    RIGHT+B:31,RIGHT+A+B:8,NOOP:2,...
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from warpzone.envs.actions import describe_buttons, parse_buttons
from warpzone.errors import ConfigError, WayError
from warpzone.rom_image import GAMES
from warpzone.whole_file import replacing

ENDING = ".way"
#: What `Way.ends` says for the last level, which no other follows.
PRINCESS = "princess"

_FORMAT = 1
_TITLE = re.compile(r"warpzone way (\d+)")
_KEYS = ("game", "level", "ends", "rom", "frame-skip", "frames", "area-changes", "seed")
_LEVEL = re.compile(r"[1-9]-[1-4]")
_HASH = re.compile(r"[0-9a-f]{40}")
_NUMBER = re.compile(r"0|[1-9]\d{0,18}")
_RUN = re.compile(r"([A-Z+]+):([1-9]\d{0,5})")
_MOST_BYTES = 1 << 20
_MOST_FRAMES = 1_000_000
_MOST_SKIP = 60
_LINE_WIDTH = 100


@dataclass(frozen=True)
class Way:
    """Inputs from the start of a level to its flag or axe.

    Attributes:
        game: One of `GAMES`.
        level: Such as '8-4'.
        ends: The level in which the game goes on, or `PRINCESS`.
        rom: SHA-1 of the game's image without its header.
        frame_skip: Emulated frames for each input.
        frames: Frames from the start of the level to the flag, the axe or the warp pipe.
        area_changes: How often Mario gets into another area on the way.
        seed: Of the search that found it.
        inputs: A controller byte for each step.
    """

    game: str
    level: str
    ends: str
    rom: str
    frame_skip: int
    frames: int
    area_changes: int
    seed: int
    inputs: bytes

    @property
    def rank(self) -> tuple[int, int]:
        """Lower is better: a policy learns a way with few areas more easily than a short one."""
        return self.area_changes, self.frames


def format_way(way: Way) -> str:
    """Returns the text of a file."""
    values = (
        way.game,
        way.level,
        way.ends,
        way.rom,
        way.frame_skip,
        way.frames,
        way.area_changes,
        way.seed,
    )
    lines = [f"warpzone way {_FORMAT}"]
    lines += [f"{key}: {value}" for key, value in zip(_KEYS, values, strict=True)]
    runs = (
        f"{describe_buttons(buttons)}:{len(list(run))}"
        for buttons, run in itertools.groupby(way.inputs)
    )
    return "\n".join([*lines, "actions:", *_wrapped(runs)]) + "\n"


def _wrapped(runs: Iterable[str]) -> list[str]:
    """Lines of runs; a comma ends each but the last."""
    lines: list[str] = []
    for run in runs:
        if lines and len(lines[-1]) + len(run) + 2 <= _LINE_WIDTH:
            lines[-1] += f",{run}"
        else:
            if lines:
                lines[-1] += ","
            lines.append(run)
    return lines


def parse_way(text: str, source: str = "the text") -> Way:
    """Reads a way.

    Args:
        text: What `format_way` returned.
        source: How errors name it, usually the path.

    Raises:
        WayError: If anything about it is not as it must be.
    """
    lines = text.splitlines()
    title = _TITLE.fullmatch(lines[0]) if lines else None
    if title is None:
        raise WayError(f"{source} is no way: its first line is not 'warpzone way {_FORMAT}'")
    if int(title[1]) != _FORMAT:
        raise WayError(
            f"{source} has format {title[1]}, and this version of warpzone reads {_FORMAT}; update"
            " warpzone, or explore the level again"
        )
    values = _header(lines[1 : len(_KEYS) + 1], source)
    if lines[len(_KEYS) + 1 : len(_KEYS) + 2] != ["actions:"]:
        raise WayError(f"{source}, line {len(_KEYS) + 2}: expected 'actions:'")
    way = Way(
        game=values["game"],
        level=values["level"],
        ends=values["ends"],
        rom=values["rom"],
        frame_skip=int(values["frame-skip"]),
        frames=int(values["frames"]),
        area_changes=int(values["area-changes"]),
        seed=int(values["seed"]),
        inputs=_inputs("".join(lines[len(_KEYS) + 2 :]), source),
    )
    _check_lengths(way, source)
    return way


def _header(lines: list[str], source: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for number, key in enumerate(_KEYS):
        line = lines[number] if number < len(lines) else ""
        name, separator, value = line.partition(": ")
        if name != key or not separator:
            raise WayError(f"{source}, line {number + 2}: expected '{key}: ...', found {line!r}")
        if not _allowed(key, value):
            raise WayError(f"{source}, line {number + 2}: {key} cannot be {value!r}")
        values[key] = value
    return values


def _allowed(key: str, value: str) -> bool:
    match key:
        case "game":
            return value in GAMES
        case "level":
            return _LEVEL.fullmatch(value) is not None
        case "ends":
            return value == PRINCESS or _LEVEL.fullmatch(value) is not None
        case "rom":
            return _HASH.fullmatch(value) is not None
        case _:
            return _NUMBER.fullmatch(value) is not None


def _inputs(text: str, source: str) -> bytes:
    inputs = bytearray()
    for run in text.split(","):
        match = _RUN.fullmatch(run)
        if match is None:
            raise WayError(
                f"{source}: action {run!r} is not written as buttons and steps, such as RIGHT+A:12"
            )
        try:
            buttons = parse_buttons(match[1])
        except ConfigError as error:
            raise WayError(f"{source}: {error}") from error
        inputs += bytes([buttons]) * int(match[2])
        if len(inputs) > _MOST_FRAMES:
            raise WayError(f"{source} has more than {_MOST_FRAMES:,} steps")
    return bytes(inputs)


def _check_lengths(way: Way, source: str) -> None:
    if not 1 <= way.frame_skip <= _MOST_SKIP:
        raise WayError(f"{source}: frame-skip is {way.frame_skip}; it goes from 1 to {_MOST_SKIP}")
    steps = -(-way.frames // way.frame_skip)
    if steps != len(way.inputs):
        raise WayError(
            f"{source} is cut or altered: {way.frames} frames are {steps} steps of"
            f" {way.frame_skip}, but it has {len(way.inputs)}"
        )


def read_way(path: Path) -> Way:
    """Reads a file.

    Raises:
        WayError: If it cannot be read or is no way.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise WayError(f"{path} is no way: it has more than {_MOST_BYTES:,} bytes")
        text = path.read_text(encoding="ascii")
    except OSError as error:
        raise WayError(f"{path} cannot be read ({error.strerror}); check the path") from error
    except UnicodeDecodeError as error:
        raise WayError(f"{path} is no way: it is no plain text") from error
    return parse_way(text, str(path))


def write_way(path: Path, way: Way) -> None:
    """Writes a file, whole or not at all.

    Raises:
        WayError: If the system refuses.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            part.write_text(format_way(way), encoding="ascii")
    except OSError as error:
        raise WayError(f"{path} cannot be written ({error.strerror}); check the folder") from error


def find_ways(path: Path) -> list[Path]:
    """The file itself, or all ways of a folder, by name.

    Raises:
        WayError: If there are none.
    """
    if path.is_dir():
        found = sorted(path.glob(f"*{ENDING}"))
        if not found:
            raise WayError(f"no {ENDING} files in {path}; `warpzone explore` makes them")
        return found
    if not path.exists():
        raise WayError(f"{path} does not exist; `warpzone explore -o {path}` makes ways")
    return [path]
