"""What can be read and changed in the environments of a native pool while they run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warpzone import _native
from warpzone.envs.checks import (
    EnvIds,
    checked_env_id,
    checked_env_ids,
    checked_state,
    checked_steps,
    make_route,
)
from warpzone.envs.options import Weight
from warpzone.envs.setup import reward_weights
from warpzone.errors import ConfigError


class EnvControls:
    """Save states, levels, starts, routes and reward weights of a `MarioVectorEnv`."""

    #: Whether environments can be saved and resumed exactly.
    saves_states = True

    num_envs: int

    @property
    def _pool(self) -> _native.Pool:
        raise NotImplementedError

    def save_state(self, env_id: int) -> bytes:
        """Returns the whole state: machine, episode, random stream and stacked frames."""
        return self._pool.save(checked_env_id(env_id, self.num_envs))

    def save_console(self, env_id: int) -> bytes:
        """Returns the state of the machine alone: small, and enough to start episodes from."""
        return self._pool.save_console(checked_env_id(env_id, self.num_envs))

    def load_state(self, blob: bytes, env_ids: EnvIds = None, *, keep_random: bool = False) -> None:
        """Puts environments where `blob` was saved; `observe` returns what they see there.

        Args:
            blob: From `save_state` of an env with the same observations, or from `Console.save`.
            env_ids: Which environments; all by default.
            keep_random: Keep each environment's random stream instead of loading the saved one.
        """
        state = checked_state(blob)
        for env_id in checked_env_ids(env_ids, self.num_envs):
            self._pool.load(env_id, state, keep_random)

    def ram(self) -> NDArray[np.uint8]:
        """Returns a read-only copy of every environment's RAM, (num_envs, 2048)."""
        ram = self._pool.ram()
        ram.flags.writeable = False
        return ram

    def set_level(self, level: str, env_ids: EnvIds = None) -> None:
        """Changes the level, from the next reset on; it is no longer drawn at random then."""
        if not isinstance(level, str):
            raise ConfigError(f"level is {level!r}; levels are written like '1-1'")
        for env_id in checked_env_ids(env_ids, self.num_envs):
            self._pool.set_level(env_id, level)

    def levels(self) -> list[str]:
        """Returns the level of each environment."""
        return [self._pool.level(env_id) for env_id in range(self.num_envs)]

    def set_start_state(
        self, blob: bytes | None, env_ids: EnvIds = None, *, idle: bool = True
    ) -> None:
        """Sets the save state that episodes start from, from the next reset on.

        Args:
            blob: From `save_state`, `save_console` or `Console.save`; None for the level's start.
            env_ids: Which environments; all by default.
            idle: Whether the random no-op frames of `noop_max` follow a reset to it as well.
        """
        state = b"" if blob is None else checked_state(blob)
        for env_id in checked_env_ids(env_ids, self.num_envs):
            self._pool.set_start_state(env_id, state, idle)

    def set_route(
        self,
        route: Sequence[tuple[int, int, int]] | _native.Route | None,
        env_ids: EnvIds = None,
    ) -> None:
        """Measures progress along a route, from the next reset or load on.

        Args:
            route: Points (area, x, y), or what `make_route` made of them, or None for no route.
            env_ids: Which environments; all by default.
        """
        made = route if isinstance(route, _native.Route) else make_route(route)
        for env_id in checked_env_ids(env_ids, self.num_envs):
            self._pool.set_route(env_id, made)

    def set_step_limit(self, steps: int, env_ids: EnvIds = None) -> None:
        """Truncates episodes after a number of steps, from the next reset or load on.

        Args:
            steps: At least 1, or 0 for no limit besides `max_steps`.
            env_ids: Which environments; all by default.
        """
        limit = checked_steps(steps)
        for env_id in checked_env_ids(env_ids, self.num_envs):
            self._pool.set_step_limit(env_id, limit)

    def set_reward_weights(self, **weights: Weight) -> None:
        """Changes some reward weights, from the next step on."""
        self._pool.set_weights(reward_weights({**self._pool.weights().as_dict(), **weights}))

    def reward_weights(self) -> dict[str, Weight]:
        """Returns the reward weights in use."""
        return dict(self._pool.weights().as_dict())
