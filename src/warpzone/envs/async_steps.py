"""Stepping environments one by one, without waiting for all of them: EnvPool's send and recv."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warpzone import _native
from warpzone.envs.checks import EnvIds, Seeds, checked_actions, checked_count, checked_env_ids
from warpzone.envs.step_arrays import StepArrays, StepResult
from warpzone.errors import ConfigError


class AsyncSteps:
    """`send`, `recv` and `async_reset` of a `MarioVectorEnv`.

    An environment is in flight from `send` or `async_reset` until `recv` has returned it. Meanwhile
    everything else that uses it raises an `InFlightError`, and so does whatever uses all
    environments, such as `step` and `reset`. Other environments can still be saved, loaded or
    changed.
    """

    num_envs: int
    _seeded: NDArray[np.bool_]

    @property
    def _pool(self) -> _native.Pool:
        raise NotImplementedError

    def _arrays_of(self, count: int) -> StepArrays:
        raise NotImplementedError

    def _seeds(self, seed: Seeds, mask: NDArray[np.bool_]) -> list[int | None]:
        raise NotImplementedError

    @property
    def in_flight(self) -> int:
        """The number of environments that `recv` can still return."""
        return self._pool.in_flight

    def send(self, actions: ArrayLike, env_ids: EnvIds = None) -> None:
        """Begins a step in some environments and returns at once.

        Args:
            actions: One per environment of `env_ids`, in the same order; possibly none.
            env_ids: Which environments; all by default. None of them may be in flight.

        Raises:
            ConfigError: An action or an environment does not exist; no step has begun.
            InFlightError: One of them is in flight; no step has begun.
        """
        ids = checked_env_ids(env_ids, self.num_envs)
        if ids or np.size(actions):  # NumPy takes an empty list for floats.
            self._pool.send(ids, checked_actions(actions, len(ids)))

    def async_reset(self, env_ids: EnvIds = None, *, seed: Seeds = None) -> None:
        """Begins an episode in some environments and returns at once; `recv` returns the results.

        Args:
            env_ids: Which environments; all by default. None of them may be in flight.
            seed: As in `reset`: environment i gets `seed + i`, or item i of a list of `num_envs`.

        Raises:
            ConfigError: An environment does not exist, or the seed is not allowed.
            InFlightError: One of them is in flight; no episode has begun.
        """
        ids = checked_env_ids(env_ids, self.num_envs)
        mask = np.zeros(self.num_envs, np.bool_)
        mask[ids] = True
        self._pool.send_reset(ids, self._seeds(seed, mask))
        self._seeded |= mask

    def recv(self, batch_size: int | None = None) -> StepResult:
        """Waits for the environments that are done first, and returns their results.

        Without other threads (`num_threads=1`) the steps are taken here, in the order in which they
        were sent. Otherwise the calling thread helps while it waits.

        Args:
            batch_size: How many environments; all that are in flight by default.

        Returns:
            As `step`, with one row per environment; `info["env_id"]` says which.

        Raises:
            ConfigError: Fewer environments are in flight.
            EnvError: Environments failed; the text names each. They are not in flight any more and
                need an `async_reset`. The results of the others are returned by the next call.
        """
        in_flight = self._pool.in_flight
        count = in_flight if batch_size is None else checked_count("batch_size", batch_size)
        if in_flight == 0:
            raise ConfigError("no env is in flight, so recv would wait forever; send actions first")
        if count > in_flight:
            raise ConfigError(
                f"batch_size is {count}, but only {in_flight} envs are in flight; "
                "send more actions or ask for fewer envs"
            )
        arrays = self._arrays_of(count)
        obs, batch = arrays.lease()
        env_ids = np.array(self._pool.recv(batch), np.int64)
        return arrays.result(obs, env_id=env_ids)
