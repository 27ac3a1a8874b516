"""Starting a level from power-on through an interface that every emulator can provide.

Both sides of a comparison run this procedure: ours in the current interpreter, the reference inside
its own virtual environment. This file therefore only imports the standard library.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

START = 0x08

WORLD, LEVEL, AREA, AREA_POINTER = 0x75F, 0x75C, 0x760, 0x750
MODE, TASK, PLAYER_STATE, PRE_LEVEL_TIMER = 0x770, 0x772, 0x0E, 0x7A0
MODE_TITLE, MODE_GAME, TASK_PLAYING, IN_CONTROL = 0, 1, 3, 8

TITLE_FRAMES = 40
START_LIMIT_FRAMES = 2000

# (area number, area pointer it loads), by world, then level. 1-2 and 4-2 start with an intro scene;
# the player gains control in the cave below it.
_AREAS: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((0, 0x25), (1, 0x29), (3, 0x26), (4, 0x60)),
    2: ((0, 0x28), (2, 0x01), (3, 0x27), (4, 0x62)),
    3: ((0, 0x24), (1, 0x35), (2, 0x20), (3, 0x63)),
    4: ((0, 0x22), (1, 0x29), (3, 0x2C), (4, 0x61)),
    5: ((0, 0x2A), (1, 0x31), (2, 0x26), (3, 0x62)),
    6: ((0, 0x2E), (1, 0x23), (2, 0x2D), (3, 0x60)),
    7: ((0, 0x33), (2, 0x01), (3, 0x27), (4, 0x64)),
    8: ((0, 0x30), (1, 0x32), (2, 0x21), (3, 0x65)),
}


class Machine(Protocol):
    """The interface an emulator needs for starting a level and comparing RAM."""

    def step(self, buttons: int) -> None:
        """Runs one frame; buttons are A, B, Select, Start, Up, Down, Left, Right from bit 0."""

    def read(self, address: int) -> int:
        """Returns one byte of CPU RAM."""

    def write(self, address: int, value: int) -> None:
        """Sets one byte of CPU RAM."""


@dataclass(frozen=True)
class Level:
    """One of the 32 levels."""

    world: int
    level: int

    @classmethod
    def parse(cls, name: str) -> Level:
        """Parses a name such as "8-4"."""
        world, level = (int(part) for part in name.split("-"))
        if not (1 <= world <= 8 and 1 <= level <= 4):
            raise ValueError(f"no such level: {name!r}; levels are 1-1 to 8-4")
        return cls(world, level)

    @property
    def area(self) -> int:
        """The area number to write before START."""
        return _AREAS[self.world][self.level - 1][0]

    @property
    def pointer(self) -> int:
        """The area pointer that the game loads when START is pressed."""
        return _AREAS[self.world][self.level - 1][1]

    def __str__(self) -> str:
        """Returns the name, such as '1-1'."""
        return f"{self.world}-{self.level}"


ALL_LEVELS = tuple(Level(world, level) for world in range(1, 9) for level in range(1, 5))


def in_control(machine: Machine) -> bool:
    """Returns whether the game is running and Mario is under control."""
    return (
        machine.read(MODE) == MODE_GAME
        and machine.read(TASK) == TASK_PLAYING
        and machine.read(PLAYER_STATE) == IN_CONTROL
    )


def start_level(machine: Machine, level: Level) -> int:
    """Runs from power-on to the first frame in which Mario is under control.

    Args:
        machine: An emulator that has just been powered on.
        level: Level to start.

    Returns:
        The number of frames run.

    Raises:
        RuntimeError: If Mario is not under control in time, or is in the wrong area.
    """
    for _ in range(TITLE_FRAMES):
        machine.step(0)
    for frame in range(START_LIMIT_FRAMES):
        if machine.read(MODE) == MODE_TITLE:
            _select(machine, level)
            machine.step(START if frame % 2 == 0 else 0)
            if machine.read(MODE) == MODE_GAME:
                _check_area(machine, level)
        else:
            machine.write(PRE_LEVEL_TIMER, 0)
            machine.step(0)
            if in_control(machine):
                return TITLE_FRAMES + frame + 1
    raise RuntimeError(f"level {level}: no control after {START_LIMIT_FRAMES} frames")


def _select(machine: Machine, level: Level) -> None:
    machine.write(WORLD, level.world - 1)
    machine.write(LEVEL, level.level - 1)
    machine.write(AREA, level.area)


def _check_area(machine: Machine, level: Level) -> None:
    # Check right away: once the level is running, the pointer holds the target of the next pipe.
    pointer = machine.read(AREA_POINTER)
    if pointer != level.pointer:
        raise RuntimeError(
            f"level {level}: area pointer {pointer:02X}, expected {level.pointer:02X}"
        )
