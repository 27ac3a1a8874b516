"""Solutions: inputs that clear a level, stored as small text files without any game data.

A file contains exactly these lines, in this order:

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
from warpzone.system.included import included_folder
from warpzone.system.json_file import read_bytes

SUFFIX = ".solution"
INCLUDED = "included"
#: `Solution.ends` of the last level, which has no next level.
PRINCESS = "princess"

_FORMAT = 1
_TITLE = re.compile(r"warpzone solution (\d+)")
_KEYS = ("game", "level", "ends", "rom", "frame-skip", "frames", "area-changes", "seed")
_LEVEL = re.compile(r"[1-9]-[1-4]")
_HASH = re.compile(r"[0-9a-f]{40}")
_NUMBER = re.compile(r"0|[1-9]\d{0,18}")
_RUN = re.compile(r"([A-Z+]+):([1-9]\d{0,5})")
_MAX_BYTES = 1 << 20
_MAX_STEPS = 1_000_000
_MAX_FRAME_SKIP = 60
_LINE_WIDTH = 100


@dataclass(frozen=True)
class Solution:
    """Inputs from the start of a level to its flag or axe.

    Attributes:
        game: One of `GAMES`.
        level: The level, such as '8-4'.
        ends: The level that follows the clear, or `PRINCESS`.
        rom: SHA-1 of the ROM without its header.
        frame_skip: Emulated frames per input.
        frames: Frames from the start of the level to the flag, the axe or the warp pipe.
        area_changes: Number of times Mario enters another area.
        seed: Random seed of the search that found it.
        inputs: One controller byte per step.
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
        """Sort key, lower is better. Few area changes come first: they are easier to learn."""
        return self.area_changes, self.frames


def format_solution(solution: Solution) -> str:
    """Returns a solution as the text of a file."""
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
    """Wraps runs into lines; every line but the last ends with a comma."""
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
    """Parses the text of a solution file.

    Args:
        text: The text, as returned by `format_solution`.
        source: Name used in error messages, usually the path.

    Raises:
        SolutionError: If the text is not a valid solution.
    """
    lines = text.splitlines()
    title = _TITLE.fullmatch(lines[0]) if lines else None
    if title is None:
        raise SolutionError(
            f"{source} is not a solution: its first line is not 'warpzone solution {_FORMAT}'"
        )
    if int(title[1]) != _FORMAT:
        raise SolutionError(
            f"{source} has format {title[1]}, but this version of warpzone reads format {_FORMAT};"
            " update warpzone, or solve the level again"
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
                f"{source}: action {run!r} must be buttons and a number of steps, as in RIGHT+A:12"
            )
        try:
            buttons = parse_buttons(match[1])
        except ConfigError as error:
            raise SolutionError(f"{source}: {error}") from error
        inputs += bytes([buttons]) * int(match[2])
        if len(inputs) > _MAX_STEPS:
            raise SolutionError(f"{source} has more than {_MAX_STEPS:,} steps")
    return bytes(inputs)


def _check_lengths(solution: Solution, source: str) -> None:
    if not 1 <= solution.frame_skip <= _MAX_FRAME_SKIP:
        raise SolutionError(
            f"{source}: frame-skip is {solution.frame_skip}; it must be from 1 to {_MAX_FRAME_SKIP}"
        )
    steps = -(-solution.frames // solution.frame_skip)
    if steps != len(solution.inputs):
        raise SolutionError(
            f"{source} is truncated or altered: {solution.frames} frames at frame-skip"
            f" {solution.frame_skip} are {steps} steps, but it has {len(solution.inputs)}"
        )


def read_solution(path: Path) -> Solution:
    """Reads a solution file.

    Raises:
        SolutionError: If the file cannot be read or is not a valid solution.
    """
    try:
        text = read_bytes(path, _MAX_BYTES).decode("ascii")
    except OSError as error:
        raise SolutionError(f"{path} cannot be read ({error.strerror}); check the path") from error
    except UnicodeDecodeError as error:
        raise SolutionError(f"{path} is not a solution: it is not plain text") from error
    except ValueError as error:
        raise SolutionError(f"{path} is not a solution: {error}") from error
    return parse_solution(text, str(path))


def write_solution(path: Path, solution: Solution) -> None:
    """Writes a solution file atomically.

    Raises:
        SolutionError: If the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            part.write_text(format_solution(solution), encoding="ascii")
    except OSError as error:
        raise SolutionError(
            f"{path} cannot be written ({error.strerror}); check the folder"
        ) from error


def included_solution(path: Path) -> Path:
    """The file of a solution: a bare name such as 8-4.solution may mean one of Warpzone's own."""
    own = included_folder("solutions") / path.name
    return own if not path.exists() and len(path.parts) == 1 and own.is_file() else path


def solutions_folder(name: str) -> Path:
    """The folder that `--from-solutions` names; 'included' means those that come with Warpzone."""
    return included_folder("solutions") if name == INCLUDED else Path(name)


def find_solutions(path: Path) -> list[Path]:
    """Returns the given file, or all solution files of the given folder, sorted by name.

    Raises:
        SolutionError: If there are none.
    """
    if path.is_dir():
        found = sorted(path.glob(f"*{SUFFIX}"))
        if not found:
            raise SolutionError(f"no {SUFFIX} files in {path}; create them with `warpzone solve`")
        return found
    if not path.exists():
        raise SolutionError(
            f"{path} does not exist; create solutions with `warpzone solve -o {path}`"
        )
    return [path]
