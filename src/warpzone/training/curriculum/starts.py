"""Starts of episodes: which level, and where in it.

The hard parts of a level come after its easy parts. If some episodes start along a known solution,
or at places that earlier episodes reached, far parts are practiced as often as near ones.
Evaluation always starts at the beginning of the level.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.algorithms.schedules import lerp
from warpzone.config import StartOptions
from warpzone.envs.endings import CLEAR, end_name
from warpzone.envs.vectors.make import AnyVectorEnv
from warpzone.rollout.rollout_env import Info
from warpzone.telemetry.metrics import MetricRow
from warpzone.training.curriculum.delivery import (
    Delivered,
    NewPlace,
    StartDelivery,
    SteppedDelivery,
)
from warpzone.training.curriculum.hazards import Hazards
from warpzone.training.curriculum.levels import LevelChooser
from warpzone.training.curriculum.solutions import Guide

# Steps after which a newer snapshot of a place replaces the old one, as the agent changes.
_REFRESH = 512
# Pixels between two places to start from.
PLACE_SPACING = 64
# Episodes over which the clear rate of a level is averaged.
_CLEAR_RATE_EPISODES = 50
# Factor on the fraction of starts within a level once every episode from its start clears.
_FACTOR_AT_SUCCESS = 0.7
# Steps after which an episode that starts before a hazard is truncated, to practice it again.
_PRACTICE_STEPS = 64


@dataclass(frozen=True)
class Place:
    """Snapshot to start from.

    Attributes:
        state: Save state of the console.
        step: Time of the snapshot, in steps of an environment.
        distance: Distance from the start of the level, along the level.
    """

    state: bytes
    step: int
    distance: int


@dataclass(frozen=True)
class Start:
    """Start of an episode; without a place, the start of the level."""

    level: str
    place: Place | None = None


class EpisodeStarts:
    """Stores snapshots and chooses the starts of each environment's episodes.

    Environments reset within a step, so starts are chosen in advance: the next start when the
    current episode begins, or several starts before a native rollout.
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
        delivery: StartDelivery | None = None,
    ):
        """Creates the starts, without any snapshots.

        Args:
            env: Environments, before their first step.
            options: Fractions of episodes that start within a level.
            seed: Random seed of the choices.
            guides: Guides by level, along which progress is measured.
            chooser: Chooses levels; by default, the environments choose them.
            spacing: Pixels between two places to start from.
            delivery: Passes starts to the environments; by default, they are stepped from Python.
        """
        self._spacing = spacing
        self.env, self.options, self.chooser = env, options, chooser
        self._delivery = delivery or SteppedDelivery(env, spacing)
        self._guides = guides or {}
        self._on_solution = {
            level: [Place(state.blob, 0, state.distance) for state in guide.places]
            for level, guide in self._guides.items()
        }
        self._random = np.random.default_rng(seed)
        self._step = 0
        self._reached: dict[str, dict[int, Place]] = {}
        self._clear_rates: dict[str, float] = {}  # Recent, from the level's start.
        self._hazards: dict[str, Hazards] = {}
        self._present = [Start(level) for level in env.levels()]
        self._next = [deque([start] * self._delivery.ahead) for start in self._present]
        self._chosen: list[list[Start]] = [[] for _ in self._present]  # Not delivered yet.
        for index, start in enumerate(self._present):
            self._guide(index, start.level)

    @property
    def is_idle(self) -> bool:
        """Whether environments choose the starts of their episodes themselves."""
        return self.options.share <= 0 and self.chooser is None

    def begin(self) -> None:
        """Called before the environments of a new run are reset."""
        if self._delivery.queued:
            self.prepare_next()

    def begun(self, index: int) -> Start:
        """Returns the start of an environment's current episode."""
        return self._present[index]

    def read_levels(self) -> None:
        """Reads the levels of the current episodes if environments choose them."""
        if self.is_idle:
            self._present = [Start(level) for level in self.env.levels()]

    def observe(self, info: Info, ended: NDArray[np.bool_]) -> None:
        """Observes a step: stores new places, and chooses starts after ended episodes."""
        if self.is_idle:
            if ended.any():  # New episodes have already begun, within the step.
                self.read_levels()
            return
        if self.options.share > 0:
            self._step += 1
            for new in self._delivery.new_places(info, ended):
                self._keep(new)
        for index in np.nonzero(ended)[0].tolist():
            self._note_end(index, info)
            self._begin(index)

    def metrics(self) -> MetricRow:
        """Returns the fractions of the levels, if a curriculum sets them."""
        shares = {} if self.chooser is None else self.chooser.shares()
        return {f"level/share/{level}": share for level, share in shares.items()}

    def clear_rate(self, level: str) -> float:
        """Returns the recent clear rate of episodes from the start of a level."""
        return self._clear_rates.get(level, 0.0)

    def _keep(self, new: NewPlace) -> None:
        start = self._present[new.env_id]
        places = self._reached.setdefault(start.level, {})
        if new.number not in places or self._is_old(places[new.number]):
            places[new.number] = Place(new.save(), self._step, new.progress + _begin_of(start))

    def _is_old(self, place: Place) -> bool:
        return self._step - place.step >= _REFRESH

    def _note_end(self, index: int, info: Info) -> None:
        """Updates hazards, clear rates and the curriculum with an ended episode."""
        start = self._present[index]
        cleared = end_name(int(info["end_reason"][index])) == CLEAR
        if self.options.share > 0:
            begin = _begin_of(start)
            practised = start.place is not None and int(info["steps"][index]) >= _PRACTICE_STEPS
            lost = bool(info["death"][index]) or not (cleared or practised)
            end = begin + int(info["progress"][index])
            self._hazards_of(start.level).ended(begin, end, lost=lost)
        if start.place is None:
            before = self._clear_rates.get(start.level, 0.0)
            change = (cleared - before) / _CLEAR_RATE_EPISODES
            self._clear_rates[start.level] = before + change
        if self.chooser is None:
            return
        self.chooser.played(start.level, int(info["steps"][index]))
        if start.place is None:
            self.chooser.ended(start.level, cleared, int(info["progress"][index]))

    def _hazards_of(self, level: str) -> Hazards:
        if level not in self._hazards:
            self._hazards[level] = Hazards(self._spacing)
        return self._hazards[level]

    def _begin(self, index: int) -> None:
        """Called when an environment has begun at a prepared start; chooses another start."""
        ended, waiting = self._present[index], self._next[index]
        # If none was left, it began at the start of the same level.
        self._present[index] = waiting.popleft() if waiting else Start(ended.level)
        self._delivery.began(index)
        if len(waiting) + len(self._chosen[index]) < self._delivery.ahead:
            self._choose_next(index, ended.level)
        if not self._delivery.queued:
            self._deliver(index)

    def _choose_next(self, index: int, level: str) -> None:
        level = level if self.chooser is None else self.chooser.next_level()
        self._chosen[index].append(Start(level, self._choose(level)))

    def _deliver(self, index: int) -> None:
        for start in self._chosen[index]:
            self._next[index].append(start)
            self._prepare(index, start)
        self._chosen[index].clear()

    def end_rollout(self) -> None:
        """Prepares the next native rollout, after `observe` has seen all steps."""
        if self.is_idle:
            return
        for index, waiting in enumerate(self._next):
            self._deliver(index)
            while len(waiting) < self._delivery.ahead:  # After a rollout that failed.
                self._choose_next(index, self._present[index].level)
                self._deliver(index)
        self._share_known()

    def _share_known(self) -> None:
        known = {
            level: [number for number, place in places.items() if not self._is_old(place)]
            for level, places in self._reached.items()
        }
        self._delivery.set_known(known)

    def abandon_rollout(self) -> None:
        """Catches up with the environments after a failed rollout, whose steps are not observed."""
        for index, waiting in enumerate(self._next):
            for _ in range(len(waiting) - self._delivery.waiting(index)):
                self._present[index] = waiting.popleft()
            self._chosen[index].clear()

    def _prepare(self, index: int, start: Start) -> None:
        guide, place = self._guides.get(start.level), start.place
        self._delivery.give(
            index,
            Delivered(
                start.level,
                chosen=self.chooser is not None,
                within=self.options.share > 0,
                state=None if place is None else place.state,
                route=None if guide is None else guide.route,
                step_limit=_limit_of(start),
            ),
        )

    def _guide(self, index: int, level: str) -> None:
        if level in self._guides:
            self.env.set_route(self._guides[level].route, [index])

    def _choose(self, level: str) -> Place | None:
        """Chooses a place of the level, or None for its start."""
        reached = list(self._reached.get(level, {}).values())
        solved = self._on_solution.get(level, [])
        # An agent that clears the level learns most from the states it actually reaches.
        clear_rate = self._clear_rates.get(level, 0.0)
        share = self.options.share * lerp(1.0, _FACTOR_AT_SUCCESS, clear_rate)
        if not (reached or solved) or self._random.random() >= share:
            return None
        # A solution reaches far places early, but the agent itself arrives there differently.
        solution_share = self.options.solution_share * (1.0 - clear_rate)
        along = bool(solved) and (not reached or self._random.random() < solution_share)
        places = solved if along else reached
        weights = self._hazards_of(level).weights(np.array([p.distance for p in places]))
        return places[int(self._random.choice(len(places), p=weights))]

    def state_dict(self) -> dict[str, Any]:
        """Returns the state that an exact resume needs, as plain data."""
        return {
            "random": repr(self._random.bit_generator.state),
            "step": self._step,
            "reached": {
                level: [[number, *_packed(place)] for number, place in places.items()]
                for level, places in self._reached.items()
            },
            "present": [[start.level, *_packed(start.place)] for start in self._present],
            "next": [
                [[start.level, *_packed(start.place)] for start in waiting]
                for waiting in self._next
            ],
            "clear_rates": dict(self._clear_rates),
            "hazards": {level: known.state_dict() for level, known in self._hazards.items()},
            "places": self._delivery.places(),
            "chooser": {} if self.chooser is None else self.chooser.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores a state; call `prepare_next` after the environments are loaded."""
        self._random.bit_generator.state = ast.literal_eval(state["random"])
        self.load_knowledge(state)
        self._present = [_unpacked(row) for row in state["present"]]
        self._delivery.resume(state["places"], [start.level for start in self._present])
        # With another acting path, fewer starts may be queued.
        ahead = self._delivery.ahead
        self._next = [deque(_unpacked(row) for row in rows[:ahead]) for rows in state["next"]]
        # Route and limit must be set before an environment is loaded.
        for index, start in enumerate(self._present):
            self._guide(index, start.level)
            if self.options.share > 0:
                self.env.set_step_limit(_limit_of(start), [index])

    def load_knowledge(self, state: dict[str, Any]) -> None:
        """Restores what is known about the levels, but not the episodes of the environments."""
        self._step = state["step"]
        self._reached = {
            level: {row[0]: Place(*row[1:]) for row in rows}
            for level, rows in state["reached"].items()
        }
        self._clear_rates = dict(state["clear_rates"])
        for level, known in state["hazards"].items():
            self._hazards_of(level).load_state_dict(known)
        if self.chooser is not None:
            self.chooser.load_state_dict(state["chooser"])

    def prepare_next(self) -> None:
        """Sets the next starts of every environment."""
        if self.is_idle:
            return
        for index, waiting in enumerate(self._next):
            for start in waiting:
                self._prepare(index, start)
        self._share_known()


def _begin_of(start: Start) -> int:
    """Returns the start of an episode, in pixels along the level."""
    return 0 if start.place is None else start.place.distance


def _limit_of(start: Start) -> int:
    """Returns the steps after which an episode is truncated; 0 for no limit."""
    return 0 if start.place is None else _PRACTICE_STEPS


def _packed(place: Place | None) -> list[Any]:
    return [] if place is None else [place.state, place.step, place.distance]


def _unpacked(row: list[Any]) -> Start:
    return Start(row[0], Place(*row[1:]) if len(row) > 1 else None)
