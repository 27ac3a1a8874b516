"""Draws the map of a level by playing through it with Mario out of sight.

The map is made from the user's own ROM when somebody looks at it; nothing of it is stored with the
program.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpzone import _native

# Of the RAM; `native/mario/ram.hpp` describes what is shared with native code.
_X_SPEED, _FLOAT_STATE = 0x57, 0x1D
_Y_PAGE, _Y, _Y_SPEED = 0xB5, 0xCE, 0x9F
_FREEZE_TIMER, _STAR_TIMER, _CLOCK = 0x747, 0x79F, 0x7F8
_ENEMY_ACTIVE, _ENEMY_SLOTS = 0x0F, 6
_LOOP_COMMAND = 0x745
_AREA_DATA, _AREA_DATA_OFFSET, _END_OF_AREA = 0xE7, 0x72C, 0xFD
_PARSER_PAGE, _PARSER_COLUMN = 0x725, 0x726
_LEFT_PAGE, _LEFT = 0x71A, 0x71C
_MODE, _MODE_TASK = 0x770, 0x772

_RIGHT_AND_B = 0x82
_SCREEN, _STATUS_BAR, _HEIGHT = 256, 32, 208
_WIDEST = 40 * _SCREEN
_MOST_FRAMES = 8000
_STILL_FRAMES = 90  # Without scrolling: the area ends here.


@dataclass(frozen=True)
class LevelMap:
    """A level's map.

    Attributes:
        image: RGB, without the status bar at the top of the screen; a pixel is a pixel of `x_pos`.
        area: The area that it shows, as in `info["area"]`; levels may have others, behind pipes.
    """

    image: NDArray[np.uint8]
    area: int


def draw_level_map(rom: bytes, game: str, level: str) -> LevelMap:
    """Draws the area in which a level begins, from its left to its right end.

    Args:
        rom: The game's ROM.
        game: 'smb' or 'lost-levels'.
        level: Such as '1-1'.
    """
    console = _native.Console(rom)
    _native.start(console, game, level)
    area = _area(console)
    image = np.zeros((_HEIGHT, _WIDEST, 3), np.uint8)
    end, left, still = None, 0, 0
    for _ in range(_MOST_FRAMES):
        _hold_above_screen(console)
        console.run_frame(_RIGHT_AND_B, render=True)
        if not _is_playing(console):
            break
        # Scrolling shows one frame later: this frame was drawn with the position before it.
        image[:, left : left + _SCREEN] = console.screen[_STATUS_BAR:]
        end = end or _end_of_area(console)
        if still > _STILL_FRAMES or (end is not None and left + _SCREEN >= end):
            break
        now = _word(console, _LEFT, _LEFT_PAGE)
        if not left <= now <= _WIDEST - _SCREEN:
            break
        still = still + 1 if now == left else 0
        left = now
    width = left + _SCREEN if end is None else min(end, left + _SCREEN)
    return LevelMap(image[:, :width].copy(), area)


def _hold_above_screen(console: _native.Console) -> None:
    """Keeps Mario above the screen, where nothing stops him, and clears the level of enemies."""
    for address, value in (
        *((_Y_PAGE, 0), (_Y, 0xB0), (_Y_SPEED, 0), (_X_SPEED, 0x28), (_FLOAT_STATE, 2)),
        # The clock never runs out, and mazes do not send Mario back.
        *((_FREEZE_TIMER, 0), (_STAR_TIMER, 0x20), (_CLOCK, 4), (_LOOP_COMMAND, 0)),
    ):
        console.poke(address, value)
    for slot in range(_ENEMY_SLOTS):
        console.poke(_ENEMY_ACTIVE + slot, 0)


def _end_of_area(console: _native.Console) -> int | None:
    """The x at which the layout ends, once the game has read all of it."""
    data = _area(console) + console.peek(_AREA_DATA_OFFSET)
    if console.peek(data) != _END_OF_AREA:
        return None
    return console.peek(_PARSER_PAGE) * _SCREEN + 16 * console.peek(_PARSER_COLUMN) + 32


def _area(console: _native.Console) -> int:
    return _word(console, _AREA_DATA, _AREA_DATA + 1)


def _word(console: _native.Console, low: int, high: int) -> int:
    return console.peek(low) + 256 * console.peek(high)


def _is_playing(console: _native.Console) -> bool:
    return console.peek(_MODE) == 1 and console.peek(_MODE_TASK) == 3
