"""Starts of episodes besides the level's own: places that the agent itself has reached.

A level's hard parts lie behind its easy ones. When some episodes begin where earlier ones have
been, the far parts are played as often as the near ones. Evaluation always begins at the true
start.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.config import StartOptions
from warpzone.rollout.collector import Info
from warpzone.vectors.make import Games

# Steps after which a place's snapshot gives way to a newer one: the agent arrives in other ways.
_REFRESH = 512
_NOWHERE = -1


@dataclass(frozen=True)
class Place:
    """Somewhere the agent has been, as it was then."""

    state: bytes
    step: int  # When it was taken, in steps of a lane.
    distance: int  # From the level's start; orders places along the way.


class SnapshotStarts:
    """Keeps snapshots of the way and chooses where each lane's episodes begin.

    A lane resets within a step, so the start after the present episode is chosen when that begins.
    """

    def __init__(self, env: Games, options: StartOptions, seed: int):
        """Begins with an empty archive: the first episodes start at the level's start."""
        self.env, self.options = env, options
        self._random = np.random.default_rng(seed)
        self._levels = env.levels()
        self._places: dict[str, dict[int, Place]] = {level: {} for level in self._levels}
        self._step = 0
        self._present: list[Place | None] = [None] * env.num_envs
        self._next: list[Place | None] = [None] * env.num_envs
        self._cells = np.full(env.num_envs, _NOWHERE, np.int64)

    def is_snapshot(self, lane: int) -> bool:
        """Whether the lane's present episode began at a snapshot."""
        return self._present[lane] is not None

    def observe(self, info: Info, ended: NDArray[np.bool_]) -> None:
        """Takes the info of a step: keeps new places, and chooses for lanes that ended."""
        if self.options.share <= 0:
            return
        self._step += 1
        cells = self._cells_of(info)
        stands = info["in_control"] & (info["on_ground"] | info["swimming"]) & ~ended
        news = stands & (cells != self._cells)
        self._cells[news] = cells[news]
        for lane in np.nonzero(news)[0].tolist():
            self._keep(lane, int(cells[lane]), info)
        for lane in np.nonzero(ended)[0].tolist():
            self._begin(lane, self._distance(lane, info))

    def _cells_of(self, info: Info) -> NDArray[np.int64]:
        """A number for each lane's place. Mazes that send Mario back change their counters."""
        cells: NDArray[np.int64] = info["area"].astype(np.int64)
        for part in (info["loop_correct"], info["loop_passes"]):
            cells = cells * 256 + part
        columns: NDArray[np.int64] = info["x_pos"] // self.options.spacing
        return cells * 4096 + columns

    def _keep(self, lane: int, cell: int, info: Info) -> None:
        places = self._places[self._levels[lane]]
        known = places.get(cell)
        if known is None or self._step - known.step >= _REFRESH:
            state = self.env.save_console(lane)
            places[cell] = Place(state, self._step, self._distance(lane, info))

    def _distance(self, lane: int, info: Info) -> int:
        start = self._present[lane]
        return int(info["progress"][lane]) + (0 if start is None else start.distance)

    def _begin(self, lane: int, end: int) -> None:
        """The lane has just begun at the start prepared for it; the one after is chosen."""
        self._present[lane] = self._next[lane]
        self._cells[lane] = _NOWHERE
        self._prepare(lane, self._choose(lane, end))

    def _prepare(self, lane: int, place: Place | None) -> None:
        self._next[lane] = place
        self.env.set_start_state(None if place is None else place.state, [lane], idle=False)

    def _choose(self, lane: int, end: int) -> Place | None:
        places = list(self._places[self._levels[lane]].values())
        if not places or self._random.random() >= self.options.share:
            return None
        if self._random.random() < self.options.near_end:
            before = [p for p in places if p.distance <= end - self.options.spacing // 2]
            if before:
                return max(before, key=lambda place: place.distance)
        return places[int(self._random.integers(len(places)))]

    def state_dict(self) -> dict[str, Any]:
        """Everything that an exact resume needs, as plain data."""
        return {
            "random": repr(self._random.bit_generator.state),
            "step": self._step,
            "places": {
                level: [[cell, *_packed(place)] for cell, place in places.items()]
                for level, places in self._places.items()
            },
            "present": [_packed(place) for place in self._present],
            "next": [_packed(place) for place in self._next],
            "cells": self._cells.tolist(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from a saved state."""
        self._random.bit_generator.state = ast.literal_eval(state["random"])
        self._step = state["step"]
        for level, rows in state["places"].items():
            self._places[level] = {row[0]: Place(*row[1:]) for row in rows}
        self._present = [_unpacked(row) for row in state["present"]]
        self._cells[:] = state["cells"]
        for lane, row in enumerate(state["next"]):
            self._prepare(lane, _unpacked(row))


def _packed(place: Place | None) -> list[Any]:
    return [] if place is None else [place.state, place.step, place.distance]


def _unpacked(row: list[Any]) -> Place | None:
    return Place(*row) if row else None
