"""How starts of episodes reach the environments, and how new places to start from are found.

`SteppedDelivery` is for environments that Python steps, `QueuedDelivery` for those that native code
plays for whole rollouts.
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
    """The start of an episode, as an environment takes it.

    Attributes:
        level: The level.
        chosen: Whether the level was chosen here; otherwise the environment stays with its own.
        within: Whether episodes may begin within levels; otherwise starts are left alone.
        state: Save state to begin at; None for the level's start.
        route: Progress is measured along it.
        step_limit: Steps after which the episode is truncated; 0 for no limit.
    """

    level: str
    chosen: bool
    within: bool
    state: bytes | None
    route: _native.Route | None
    step_limit: int


class NewPlace(NamedTuple):
    """A place that an episode has just entered.

    Attributes:
        env_id: Where.
        number: Of the place, see `place_ids`.
        progress: Of the episode.
        save: Returns the state of the console there.
    """

    env_id: int
    number: int
    progress: int
    save: Callable[[], bytes]


class StartDelivery(Protocol):
    """Gives starts to environments, and reports places that episodes enter."""

    ahead: int
    """Starts that an environment has waiting while it plays."""
    queued: bool
    """Whether starts are given between rollouts only."""

    def give(self, env_id: int, start: Delivered) -> None:
        """Adds a start to those that wait."""

    def new_places(self, info: Info, ended: NDArray[np.bool_]) -> Iterable[NewPlace]:
        """Places that the step just taken entered."""

    def began(self, env_id: int) -> None:
        """An episode has just begun: it has entered no place yet."""

    def set_known(self, places: Mapping[str, Sequence[int]]) -> None:
        """Places by level whose state is not needed again yet."""

    def waiting(self, env_id: int) -> int:
        """Number of starts that wait."""

    def places(self) -> list[int]:
        """The place that each present episode entered last."""

    def resume(self, places: Sequence[int], levels: Sequence[str]) -> None:
        """Takes what `places` returned, and the levels of the present episodes."""


class SteppedDelivery:
    """Sets the next start on environments that are stepped one action at a time."""

    ahead = 1
    queued = False

    def __init__(self, env: AnyVectorEnv, spacing: int):
        """Takes the environments, and the pixels between two places."""
        self._env, self._spacing = env, spacing
        self._places = np.full(env.num_envs, _NOWHERE, np.int64)

    def give(self, env_id: int, start: Delivered) -> None:
        """Sets where the next episode begins."""
        if start.chosen:
            self._env.set_level(start.level, [env_id])
            if start.route is not None:
                self._env.set_route(start.route, [env_id])
        if start.within:
            self._env.set_start_state(start.state, [env_id], idle=False)
            self._env.set_step_limit(start.step_limit, [env_id])

    def new_places(self, info: Info, ended: NDArray[np.bool_]) -> Iterable[NewPlace]:
        """Places that the step just taken entered."""
        places = place_ids(info, self._spacing)
        new = can_start_here(info) & ~ended & (places != self._places)
        self._places[new] = places[new]
        for env_id in np.nonzero(new)[0].tolist():
            progress = int(info["progress"][env_id])
            yield NewPlace(env_id, int(places[env_id]), progress, self._saver(env_id))

    def _saver(self, env_id: int) -> Callable[[], bytes]:
        return lambda: self._env.save_console(env_id)

    def began(self, env_id: int) -> None:
        """An episode has just begun."""
        self._places[env_id] = _NOWHERE

    def set_known(self, places: Mapping[str, Sequence[int]]) -> None:
        """Does nothing: states are saved only on request."""

    def waiting(self, env_id: int) -> int:
        """There is always one."""
        return self.ahead

    def places(self) -> list[int]:
        """The place that each present episode entered last."""
        places: list[int] = self._places.tolist()
        return places

    def resume(self, places: Sequence[int], levels: Sequence[str]) -> None:
        """Takes what `places` returned."""
        self._places[:] = places


class QueuedDelivery:
    """Queues starts ahead for native code that plays whole rollouts."""

    queued = True

    def __init__(self, player: _native.RolloutPlayer, num_envs: int, ahead: int, spacing: int):
        """Takes the player.

        Args:
            player: Plays the environments.
            num_envs: Number of environments.
            ahead: Starts that an environment has waiting when a rollout begins.
            spacing: Pixels between two places; 0 reports no places.
        """
        self.ahead = ahead
        self._player, self._num_envs = player, num_envs
        self._given = 0
        player.set_snapshot_spacing(spacing)

    def give(self, env_id: int, start: Delivered) -> None:
        """Adds a start to those that wait."""
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
        """Places that the step entered: the player has saved their states."""
        for row in info[NEW_PLACES]:
            yield NewPlace(row["env"], row["cell"], row["progress"], partial(_same, row["state"]))

    def began(self, env_id: int) -> None:
        """Does nothing: the player knows."""

    def set_known(self, places: Mapping[str, Sequence[int]]) -> None:
        """Places by level whose state is not needed again yet."""
        for level, numbers in places.items():
            self._player.set_known_cells(level, np.array(numbers, np.int64))

    def waiting(self, env_id: int) -> int:
        """Number of starts that wait."""
        return len(self._player.waiting_starts(env_id))

    def places(self) -> list[int]:
        """The place that each present episode entered last."""
        return [self._player.cell(env_id) for env_id in range(self._num_envs)]

    def resume(self, places: Sequence[int], levels: Sequence[str]) -> None:
        """Takes what `places` returned, and the levels of the present episodes."""
        for env_id, (place, level) in enumerate(zip(places, levels, strict=True)):
            self._player.set_cell(env_id, place)
            self._player.set_present_start(env_id, self._given, level)


def _same(state: bytes) -> bytes:
    return state
