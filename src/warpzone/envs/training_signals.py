"""What training reads from infos: how far steps came, where progress is hopeless, good starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Info = Mapping[str, Any]

REQUIRED = frozenset({"progress", "stagnation", "steps", "death", "flag_get", "reward_terms"})
"""Infos that training needs, also through wrappers."""

_TILE = 16.0  # Pixels.
_UNKNOWN = -1  # Progress of an episode that has just begun.


class TrainingSignals:
    """Discount exponents and hopeless truncations, as `warpzone.rollout` asks for them.

    The exponent of a step is the progress that it made, in tiles of 16 pixels.

    Attributes:
        hopeless_value: Value of an episode that was truncated because it made no progress.
    """

    def __init__(
        self,
        num_envs: int,
        stagnation_frames: int,
        *,
        stagnation_penalty: float = 0.0,
        begin_at: int = _UNKNOWN,
    ):
        """Begins with new episodes.

        Args:
            num_envs: Number of environments.
            stagnation_frames: Frames without progress after which an episode is truncated; 0 if
                that never happens.
            stagnation_penalty: Penalty for such an episode.
            begin_at: Progress at the start of the first episodes, where it is known.
        """
        self._stagnation_frames = stagnation_frames
        self.hopeless_value = -stagnation_penalty
        self._progress = np.full(num_envs, begin_at, np.int32)

    def begin(self) -> None:
        """Every environment has been reset."""
        self._progress[:] = _UNKNOWN

    def discount_exponents(self, info: Info, ended: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Tiles of progress that each step made; 0 where an episode began or ended with it."""
        before, after = self._progress, np.where(ended, _UNKNOWN, info["progress"])
        known = (before != _UNKNOWN) & (after != _UNKNOWN)
        self._progress = after.astype(np.int32)
        tiles: NDArray[np.float32] = np.where(known, after - before, 0).astype(np.float32) / _TILE
        return tiles

    def has_no_future(self, info: Info) -> NDArray[np.bool_]:
        """Episodes that were truncated because they made no progress.

        They are worth `hopeless_value`, whatever the critic says: it does not see that Mario has
        been standing here for long, or walks in the circles of a maze.
        """
        stagnation: NDArray[np.int32] = info["stagnation"]
        if not self._stagnation_frames:
            return np.zeros(len(stagnation), np.bool_)
        return stagnation >= self._stagnation_frames

    def state_dict(self) -> dict[str, Any]:
        """Everything that an exact resume needs."""
        return {"progress": self._progress.tolist()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores what `state_dict` returned."""
        self._progress = np.asarray(state["progress"], np.int32)


def can_start_here(info: Info) -> NDArray[np.bool_]:
    """Where an episode could begin: Mario is controllable, and stands or swims."""
    mask: NDArray[np.bool_] = info["in_control"] & (info["on_ground"] | info["swimming"])
    return mask


def place_ids(info: Info, spacing: int) -> NDArray[np.int64]:
    """A number for the place of each environment: its area, and its column of `spacing` pixels.

    Mazes that send Mario back change their counters, which are part of the number.
    """
    ids: NDArray[np.int64] = info["area"].astype(np.int64)
    for part in (info["loop_correct"], info["loop_passes"]):
        ids = ids * 256 + part
    columns: NDArray[np.int64] = info["x_pos"] // spacing
    return ids * 4096 + columns
