"""Ways: inputs that clear a level, as small text files without a byte of the game.

A file looks like this; every line is there, in this order:

    warpzone solution 1
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
from warpzone.errors import ConfigError, SolutionError
from warpzone.rom.image import GAMES
from warpzone.system.atomic_file import replacing

ENDING = ".solution"
#: What `Way.ends` says for the last level, which no other follows.
PRINCESS = "princess"

_FORMAT = 1
_TITLE = re.compile(r"warpzone solution (\d+)")
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
class Solution:
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


def format_solution(solution: Solution) -> str:
    """Returns the text of a file."""
    values = (
        solution.game,
        solution.level,
        solution.ends,
        solution.rom,
        solution.frame_skip,
        solution.frames,
        solution.area_changes,
        solution.seed,
    )
    lines = [f"warpzone solution {_FORMAT}"]
    lines += [f"{key}: {value}" for key, value in zip(_KEYS, values, strict=True)]
    runs = (
        f"{describe_buttons(buttons)}:{len(list(run))}"
        for buttons, run in itertools.groupby(solution.inputs)
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


def parse_solution(text: str, source: str = "the text") -> Solution:
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
        raise SolutionError(
            f"{source} is not a solution: its first line is not 'warpzone solution {_FORMAT}'"
        )
    if int(title[1]) != _FORMAT:
        raise SolutionError(
            f"{source} has format {title[1]}, and this version of warpzone reads {_FORMAT}; update"
            " warpzone, or explore the level again"
        )
    values = _header(lines[1 : len(_KEYS) + 1], source)
    if lines[len(_KEYS) + 1 : len(_KEYS) + 2] != ["actions:"]:
        raise SolutionError(f"{source}, line {len(_KEYS) + 2}: expected 'actions:'")
    solution = Solution(
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
    _check_lengths(solution, source)
    return solution


def _header(lines: list[str], source: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for number, key in enumerate(_KEYS):
        line = lines[number] if number < len(lines) else ""
        name, separator, value = line.partition(": ")
        if name != key or not separator:
            raise SolutionError(
                f"{source}, line {number + 2}: expected '{key}: ...', found {line!r}"
            )
        if not _allowed(key, value):
            raise SolutionError(f"{source}, line {number + 2}: {key} cannot be {value!r}")
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
            raise SolutionError(
                f"{source}: action {run!r} is not written as buttons and steps, such as RIGHT+A:12"
            )
        try:
            buttons = parse_buttons(match[1])
        except ConfigError as error:
            raise SolutionError(f"{source}: {error}") from error
        inputs += bytes([buttons]) * int(match[2])
        if len(inputs) > _MOST_FRAMES:
            raise SolutionError(f"{source} has more than {_MOST_FRAMES:,} steps")
    return bytes(inputs)


def _check_lengths(solution: Solution, source: str) -> None:
    if not 1 <= solution.frame_skip <= _MOST_SKIP:
        raise SolutionError(
            f"{source}: frame-skip is {solution.frame_skip}; it goes from 1 to {_MOST_SKIP}"
        )
    steps = -(-solution.frames // solution.frame_skip)
    if steps != len(solution.inputs):
        raise SolutionError(
            f"{source} is cut or altered: {solution.frames} frames are {steps} steps of"
            f" {solution.frame_skip}, but it has {len(solution.inputs)}"
        )


def read_solution(path: Path) -> Solution:
    """Reads a file.

    Raises:
        WayError: If it cannot be read or is no way.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise SolutionError(f"{path} is no way: it has more than {_MOST_BYTES:,} bytes")
        text = path.read_text(encoding="ascii")
    except OSError as error:
        raise SolutionError(f"{path} cannot be read ({error.strerror}); check the path") from error
    except UnicodeDecodeError as error:
        raise SolutionError(f"{path} is no way: it is no plain text") from error
    return parse_solution(text, str(path))


def write_solution(path: Path, solution: Solution) -> None:
    """Writes a file, whole or not at all.

    Raises:
        WayError: If the system refuses.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            part.write_text(format_solution(solution), encoding="ascii")
    except OSError as error:
        raise SolutionError(
            f"{path} cannot be written ({error.strerror}); check the folder"
        ) from error


def find_ways(path: Path) -> list[Path]:
    """The file itself, or all ways of a folder, by name.

    Raises:
        WayError: If there are none.
    """
    if path.is_dir():
        found = sorted(path.glob(f"*{ENDING}"))
        if not found:
            raise SolutionError(f"no {ENDING} files in {path}; `warpzone solve` makes them")
        return found
    if not path.exists():
        raise SolutionError(f"{path} does not exist; `warpzone solve -o {path}` makes ways")
    return [path]
