"""Where episodes begin: which level, and where in it.

A level's hard parts lie behind its easy ones. When some episodes begin along a known way, or where
earlier ones have been, the far parts are played as often as the near ones. Evaluation always begins
at the true start.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.algorithms.schedules import lerp
from warpzone.config import StartOptions
from warpzone.envs.endings import CLEAR, end_name
from warpzone.envs.vectors.make import AnyVectorEnv
from warpzone.rollout.collector import Info
from warpzone.telemetry.metrics import MetricRow
from warpzone.train.curriculum.hazards import Hazards
from warpzone.train.curriculum.levels import LevelChooser
from warpzone.train.curriculum.solutions import Guide

# Steps after which a place's snapshot gives way to a newer one: the agent arrives in other ways.
_REFRESH = 512
# Pixels between two places to start from.
PLACE_SPACING = 64
_NOWHERE = -1
# Episodes over which the clear rate of a level is averaged.
_EPISODES_BACK = 50
# What is left of the share of starts within a level when every episode from its own start clears.
_KEPT_AT_SUCCESS = 0.7
# An episode that begins before a danger is cut soon after it: the next one practises again.
_PRACTICE_STEPS = 64


@dataclass(frozen=True)
class Place:
    """Somewhere to begin."""

    state: bytes
    step: int  # When it was taken, in steps of a lane.
    distance: int  # From the level's start; orders places along the way.


@dataclass(frozen=True)
class Start:
    """Where an episode begins; without a place, at the level's own start."""

    level: str
    place: Place | None = None


class EpisodeStarts:
    """Keeps snapshots of the way and chooses where each lane's episodes begin.

    A lane resets within a step, so the start after the present episode is chosen when that begins.
    """

    def __init__(
        self,
        env: AnyVectorEnv,
        options: StartOptions,
        seed: int,
        *,
        guides: Mapping[str, Guide] | None = None,
        chooser: LevelChooser | None = None,
        spacing: int = PLACE_SPACING,
    ):
        """Begins at the levels' own starts, with nothing reached yet.

        Args:
            env: The games; nothing of them has been played.
            options: How many episodes begin where.
            seed: Of the choices.
            guides: Ways through the levels: progress is measured along them.
            chooser: Chooses levels; without one that is the games' business.
            spacing: Pixels between two places to start from.
        """
        self._spacing = spacing
        self.env, self.options, self.chooser = env, options, chooser
        self._guides = guides or {}
        self._along = {
            level: [Place(state.blob, 0, state.distance) for state in guide.places]
            for level, guide in self._guides.items()
        }
        self._random = np.random.default_rng(seed)
        self._step = 0
        self._reached: dict[str, dict[int, Place]] = {}
        self._clears: dict[str, float] = {}  # Of late, from the level's own start.
        self._hazards: dict[str, Hazards] = {}
        self._present = [Start(level) for level in env.levels()]
        self._next = list(self._present)
        self._cells = np.full(env.num_envs, _NOWHERE, np.int64)
        for lane, start in enumerate(self._present):
            self._guide(lane, start.level)

    @property
    def _idle(self) -> bool:
        return self.options.share <= 0 and self.chooser is None

    def begun(self, lane: int) -> Start:
        """Where the lane's present episode began."""
        start = self._present[lane]
        # Games that choose their levels themselves know best.
        return start if self.chooser is not None else Start(self.env.levels()[lane], start.place)

    def observe(self, info: Info, ended: NDArray[np.bool_]) -> None:
        """Takes the info of a step: keeps new places, and chooses for lanes that ended."""
        if self._idle:
            return
        if self.options.share > 0:
            self._keep_new_places(info, ended)
        for lane in np.nonzero(ended)[0].tolist():
            self._tell(lane, info)
            self._begin(lane)

    def _keep_new_places(self, info: Info, ended: NDArray[np.bool_]) -> None:
        self._step += 1
        cells = self._cells_of(info)
        stands = info["in_control"] & (info["on_ground"] | info["swimming"]) & ~ended
        news = stands & (cells != self._cells)
        self._cells[news] = cells[news]
        for lane in np.nonzero(news)[0].tolist():
            self._keep(lane, int(cells[lane]), info)

    def metrics(self) -> MetricRow:
        """Shares of the levels, where a curriculum gives them."""
        shares = {} if self.chooser is None else self.chooser.shares()
        return {f"level/share/{level}": share for level, share in shares.items()}

    def _cells_of(self, info: Info) -> NDArray[np.int64]:
        """A number for each lane's place. Mazes that send Mario back change their counters."""
        cells: NDArray[np.int64] = info["area"].astype(np.int64)
        for part in (info["loop_correct"], info["loop_passes"]):
            cells = cells * 256 + part
        columns: NDArray[np.int64] = info["x_pos"] // self._spacing
        return cells * 4096 + columns

    def _keep(self, lane: int, cell: int, info: Info) -> None:
        places = self._reached.setdefault(self._present[lane].level, {})
        known = places.get(cell)
        if known is None or self._step - known.step >= _REFRESH:
            state = self.env.save_console(lane)
            places[cell] = Place(state, self._step, self._distance(lane, info))

    def _distance(self, lane: int, info: Info) -> int:
        place = self._present[lane].place
        return int(info["progress"][lane]) + (0 if place is None else place.distance)

    def _tell(self, lane: int, info: Info) -> None:
        """Takes note of an episode that ended; who chooses levels hears of it."""
        start, cleared = self._present[lane], end_name(int(info["end_reason"][lane])) == CLEAR
        if self.options.share > 0:
            begin = 0 if start.place is None else start.place.distance
            cut = start.place is not None and int(info["steps"][lane]) >= _PRACTICE_STEPS
            lost = bool(info["death"][lane]) or not (cleared or cut)
            self._hazards_of(start.level).ended(begin, self._distance(lane, info), lost=lost)
        if start.place is None:
            before = self._clears.get(start.level, 0.0)
            self._clears[start.level] = before + (cleared - before) / _EPISODES_BACK
        if self.chooser is None:
            return
        self.chooser.played(start.level, int(info["steps"][lane]))
        if start.place is None:
            self.chooser.ended(start.level, cleared, int(info["progress"][lane]))

    def _hazards_of(self, level: str) -> Hazards:
        if level not in self._hazards:
            self._hazards[level] = Hazards(self._spacing)
        return self._hazards[level]

    def _begin(self, lane: int) -> None:
        """The lane has just begun at the start prepared for it; the one after is chosen."""
        ended, self._present[lane] = self._present[lane], self._next[lane]
        self._cells[lane] = _NOWHERE
        level = ended.level if self.chooser is None else self.chooser.next_level()
        self._prepare(lane, Start(level, self._choose(level)))

    def _prepare(self, lane: int, start: Start) -> None:
        self._next[lane] = start
        if self.chooser is not None:
            self.env.set_level(start.level, [lane])
            self._guide(lane, start.level)
        if self.options.share > 0:
            state = None if start.place is None else start.place.state
            self.env.set_start_state(state, [lane], idle=False)
            self._limit(lane, start)

    def _limit(self, lane: int, start: Start) -> None:
        self.env.set_step_limit(0 if start.place is None else _PRACTICE_STEPS, [lane])

    def _guide(self, lane: int, level: str) -> None:
        if level in self._guides:
            self.env.set_route(self._guides[level].route, [lane])

    def _choose(self, level: str) -> Place | None:
        """A place of the level, or None for its own start."""
        reached = list(self._reached.get(level, {}).values())
        along = self._along.get(level, [])
        # Who gets through from the start learns most from what really happens on the way.
        clears = self._clears.get(level, 0.0)
        share = self.options.share * lerp(1.0, _KEPT_AT_SUCCESS, clears)
        if not (reached or along) or self._random.random() >= share:
            return None
        # A way shows what is ahead; who gets there himself arrives otherwise, and practises that.
        by_way = self.options.solution_share * (1.0 - clears)
        places = along if along and (not reached or self._random.random() < by_way) else reached
        weights = self._hazards_of(level).weights(np.array([p.distance for p in places]))
        return places[int(self._random.choice(len(places), p=weights))]

    def state_dict(self) -> dict[str, Any]:
        """Everything that an exact resume needs, as plain data."""
        return {
            "random": repr(self._random.bit_generator.state),
            "step": self._step,
            "reached": {
                level: [[cell, *_packed(place)] for cell, place in places.items()]
                for level, places in self._reached.items()
            },
            "present": [[start.level, *_packed(start.place)] for start in self._present],
            "next": [[start.level, *_packed(start.place)] for start in self._next],
            "clears": dict(self._clears),
            "hazards": {level: known.state_dict() for level, known in self._hazards.items()},
            "cells": self._cells.tolist(),
            "chooser": {} if self.chooser is None else self.chooser.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from a saved state; `prepare_next` must follow once the lanes are loaded."""
        self._random.bit_generator.state = ast.literal_eval(state["random"])
        self._step = state["step"]
        self._reached = {
            level: {row[0]: Place(*row[1:]) for row in rows}
            for level, rows in state["reached"].items()
        }
        self._clears = dict(state["clears"])
        for level, known in state["hazards"].items():
            self._hazards_of(level).load_state_dict(known)
        self._present = [_unpacked(row) for row in state["present"]]
        self._cells[:] = state["cells"]
        if self.chooser is not None:
            self.chooser.load_state_dict(state["chooser"])
        self._next = [_unpacked(row) for row in state["next"]]
        # A lane goes on along the route and to the limit that it is given before it is loaded.
        for lane, start in enumerate(self._present):
            self._guide(lane, start.level)
            if self.options.share > 0:
                self._limit(lane, start)

    def prepare_next(self) -> None:
        """Tells every lane where its next episode begins."""
        for lane, start in enumerate(self._next):
            self._prepare(lane, start)


def _packed(place: Place | None) -> list[Any]:
    return [] if place is None else [place.state, place.step, place.distance]


def _unpacked(row: list[Any]) -> Start:
    return Start(row[0], Place(*row[1:]) if len(row) > 1 else None)
