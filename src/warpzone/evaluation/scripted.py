"""A rule that plays by what is ahead: run right, jump over walls, holes and enemies.

Nothing is learned and nothing remembered about the levels. It clears a few of them and shows what
an environment does; docs/commands.md says how far it gets on each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone import _native
from warpzone.envs.console import Console

Grid = NDArray[np.bool_]

_MARIO_COLUMN = 5  # of the tile grid: ten columns are seen ahead of him
_WALL_DISTANCE = 4  # columns; early enough to be above a pipe when it comes
_GAP_DISTANCE = 2
_ENEMY_DISTANCE = 4
_FULL_JUMP = 8  # steps to hold the button, at most: the game ends a rise before that
_ENEMY_JUMP = 5
_SWIM_ROW = 3  # strokes are made below this row
_PATIENCE = 12  # steps without getting further, before a run-up
_RUN_UP = 11


class ScriptedPolicy:
    """Decides from the tile grid, as a person does who has seen the game once."""

    actions = ("RIGHT+B", "RIGHT+A+B", "LEFT+B")
    _RUN, _JUMP, _BACK = range(3)

    def __init__(self) -> None:
        """Starts with nothing pressed."""
        self.reset()

    def reset(self) -> None:
        """An episode begins."""
        self._steps = 0
        self._hold = 0  # steps for which a jump's button stays pressed
        self._furthest = 0
        self._stalled = 0
        self._run_up = 0

    def act(self, obs: Any, info: dict[str, Any], console: Console) -> int:
        """Returns the number of an action."""
        del obs  # The rule reads the grid itself, so that it plays with any observation.
        self._steps += 1
        solid, hostile, platform, _, mario = np.asarray(_native.tiles(console.ram)) > 0
        rows = np.flatnonzero(mario[:, _MARIO_COLUMN])
        feet = int(rows[-1]) if len(rows) else 0
        if info["swimming"]:
            return self._JUMP if feet > _SWIM_ROW and self._steps % 2 else self._RUN
        if self._needs_run_up(info):
            return self._BACK
        if not info["on_ground"]:
            self._hold = self._hold - 1 if self._hold and info["y_speed"] < 0 else 0
            return self._JUMP if self._hold else self._RUN
        if self._hold:  # Landed: the button must be let go before it makes him jump again.
            self._hold = 0
            return self._RUN
        self._hold = _jump_length(solid | platform, hostile, feet)
        return self._JUMP if self._hold else self._RUN

    def _needs_run_up(self, info: dict[str, Any]) -> bool:
        """Whether to walk back, because nothing has been gained for a while."""
        x = info["x_pos"]
        looped = x < self._furthest - 512  # a maze, or another area
        self._stalled = 0 if x > self._furthest or looped else self._stalled + 1
        self._furthest = x if looped else max(x, self._furthest)
        if self._stalled > _PATIENCE and info["on_ground"]:
            self._stalled = -_PATIENCE
            self._run_up = _RUN_UP
        self._run_up = max(self._run_up - 1, 0)
        return self._run_up > 0


def _jump_length(ground: Grid, hostile: Grid, feet: int) -> int:
    """For how many steps to press A for what lies ahead; 0 for no jump."""
    ahead = _MARIO_COLUMN + 1
    wall = ground[feet, ahead : ahead + _WALL_DISTANCE].any()
    floor = ground[feet + 1 :, ahead : ahead + _GAP_DISTANCE]
    if wall or not floor.any(axis=0).all():
        return _FULL_JUMP
    near = hostile[max(feet - 2, 0) : feet + 2, ahead : ahead + _ENEMY_DISTANCE]
    return _ENEMY_JUMP if near.any() else 0
