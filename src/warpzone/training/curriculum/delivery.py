"""Delivery of episode starts to environments, and detection of new places to start from.

`SteppedDelivery` is for environments that are stepped from Python, `QueuedDelivery` for whole
rollouts in native code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from warpzone import _native
from warpzone.envs.training_signals import can_start_here, place_ids
from warpzone.envs.vectors.make import AnyVectorEnv
from warpzone.rollout.rollout_env import Info
from warpzone.training.native_rollouts import NEW_PLACES

_NOWHERE = -1


class Delivered(NamedTuple):
    """Start of an episode, as passed to an environment.

    Attributes:
        level: Level to play.
        chosen: Whether the level was chosen here; otherwise the environment keeps its own.
        within: Whether episodes may start within levels; otherwise starts are not changed.
        state: Save state to start from; None for the start of the level.
        route: Route along which progress is measured.
        step_limit: Steps after which the episode is truncated; 0 for no limit.
    """

    level: str
    chosen: bool
    within: bool
    state: bytes | None
    route: _native.Route | None
    step_limit: int


class NewPlace(NamedTuple):
    """Place that an episode has just entered.

    Attributes:
        env_id: Index of the environment.
        number: Number of the place; see `place_ids`.
        progress: Progress of the episode.
        save: Returns the state of the console at the place.
    """

    env_id: int
    number: int
    progress: int
    save: Callable[[], bytes]


class StartDelivery(Protocol):
    """Passes starts to environments, and reports places that episodes enter."""

    ahead: int
    """Number of starts that are queued per environment."""
    queued: bool
    """Whether starts are passed only between rollouts."""

    def give(self, env_id: int, start: Delivered) -> None:
        """Queues a start."""

    def new_places(self, info: Info, ended: NDArray[np.bool_]) -> Iterable[NewPlace]:
        """Returns the places that were entered in the step just taken."""

    def began(self, env_id: int) -> None:
        """Called when an episode has just begun."""

    def set_known(self, places: Mapping[str, Sequence[int]]) -> None:
        """Sets the places, by level, whose states are up to date."""

    def waiting(self, env_id: int) -> int:
        """Returns the number of queued starts."""

    def places(self) -> list[int]:
        """Returns the place that each current episode entered last."""

    def resume(self, places: Sequence[int], levels: Sequence[str]) -> None:
        """Restores the result of `places`, and the levels of the current episodes."""


class SteppedDelivery:
    """Sets the next start of environments that are stepped from Python."""

    ahead = 1
    queued = False

    def __init__(self, env: AnyVectorEnv, spacing: int):
        """Stores the environments, and the distance between two places in pixels."""
        self._env, self._spacing = env, spacing
        self._places = np.full(env.num_envs, _NOWHERE, np.int64)

    def give(self, env_id: int, start: Delivered) -> None:
        """Sets the start of the next episode."""
        if start.chosen:
            self._env.set_level(start.level, [env_id])
            if start.route is not None:
                self._env.set_route(start.route, [env_id])
        if start.within:
            self._env.set_start_state(start.state, [env_id], idle=False)
            self._env.set_step_limit(start.step_limit, [env_id])

    def new_places(self, info: Info, ended: NDArray[np.bool_]) -> Iterable[NewPlace]:
        """Returns the places that were entered in the step just taken."""
        places = place_ids(info, self._spacing)
        new = can_start_here(info) & ~ended & (places != self._places)
        self._places[new] = places[new]
        for env_id in np.nonzero(new)[0].tolist():
            progress = int(info["progress"][env_id])
            yield NewPlace(env_id, int(places[env_id]), progress, self._saver(env_id))

    def _saver(self, env_id: int) -> Callable[[], bytes]:
        return lambda: self._env.save_console(env_id)

    def began(self, env_id: int) -> None:
        """Called when an episode has just begun."""
        self._places[env_id] = _NOWHERE

    def set_known(self, places: Mapping[str, Sequence[int]]) -> None:
        """Does nothing: states are only saved on request."""

    def waiting(self, env_id: int) -> int:
        """Returns 1: there is always one start."""
        return self.ahead

    def places(self) -> list[int]:
        """Returns the place that each current episode entered last."""
        places: list[int] = self._places.tolist()
        return places

    def resume(self, places: Sequence[int], levels: Sequence[str]) -> None:
        """Restores the result of `places`."""
        self._places[:] = places


class QueuedDelivery:
    """Queues starts for whole rollouts in native code."""

    queued = True

    def __init__(self, player: _native.RolloutPlayer, num_envs: int, ahead: int, spacing: int):
        """Creates the queues.

        Args:
            player: Plays the environments.
            num_envs: Number of environments.
            ahead: Number of starts per environment that are queued when a rollout begins.
            spacing: Pixels between two places; 0 disables the report of places.
        """
        self.ahead = ahead
        self._player, self._num_envs = player, num_envs
        self._given = 0
        player.set_snapshot_spacing(spacing)

    def give(self, env_id: int, start: Delivered) -> None:
        """Queues a start."""
        self._player.push_start(
            env_id,
            self._given,
            start.level,
            start.state,
            idle=start.state is None,
            route=start.route,
            step_limit=start.step_limit,
        )
        self._given += 1

    def new_places(self, info: Info, ended: NDArray[np.bool_]) -> Iterable[NewPlace]:
        """Returns the places that were entered in the step; the player has saved their states."""
        for row in info[NEW_PLACES]:
            yield NewPlace(row["env"], row["cell"], row["progress"], partial(_same, row["state"]))

    def began(self, env_id: int) -> None:
        """Does nothing: the player tracks this itself."""

    def set_known(self, places: Mapping[str, Sequence[int]]) -> None:
        """Sets the places, by level, whose states are up to date."""
        for level, numbers in places.items():
            self._player.set_known_cells(level, np.array(numbers, np.int64))

    def waiting(self, env_id: int) -> int:
        """Returns the number of queued starts."""
        return len(self._player.waiting_starts(env_id))

    def places(self) -> list[int]:
        """Returns the place that each current episode entered last."""
        return [self._player.cell(env_id) for env_id in range(self._num_envs)]

    def resume(self, places: Sequence[int], levels: Sequence[str]) -> None:
        """Restores the result of `places`, and the levels of the current episodes."""
        for env_id, (place, level) in enumerate(zip(places, levels, strict=True)):
            self._player.set_cell(env_id, place)
            self._player.set_present_start(env_id, self._given, level)


def _same(state: bytes) -> bytes:
    return state
