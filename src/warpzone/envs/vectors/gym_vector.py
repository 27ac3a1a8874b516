"""Gymnasium's sync and async vector environments, with the interface of `MarioVectorEnv`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from gymnasium.vector import SyncVectorEnv, VectorEnv
from numpy.typing import ArrayLike, NDArray

from warpzone import _native
from warpzone.envs.backends.machine import Backend, check_backend
from warpzone.envs.buffers import InfoArrays, Obs, copied_obs, empty_obs, obs_shapes
from warpzone.envs.checks import (
    Seeds,
    check_ends,
    check_render_mode,
    checked_actions,
    checked_count,
    checked_mask,
    checked_seeds,
)
from warpzone.envs.options import EnvOptions, RenderMode, Weight, check_keywords
from warpzone.envs.setup import prepare, reward_weights, spaces_of
from warpzone.envs.single import MarioEnv
from warpzone.envs.vector import AUTORESET_MODES
from warpzone.envs.vectors.options import WorkerOptions, check_vector
from warpzone.envs.vectors.process_env import ProcessVectorEnv
from warpzone.errors import ClosedError, ConfigError, StateError, WorkerError

_log = logging.getLogger(__name__)

_NO_STATES = "save states need the native vector: use vector='native'"
_OWN_KEYWORDS = (
    *("num_envs", "render_mode", "vector", "backend"),
    *("strict_stage", "fallback_sync", "workers"),
)
_STATUS_NUMBERS = {"small": 0, "tall": 1, "fireball": 2}


@dataclass(frozen=True)
class EnvFactory:
    """Creates one environment; plain data, so that it can be sent to a worker."""

    level: Any
    options: dict[str, Any]

    def __call__(self) -> MarioEnv:
        """Builds the environment."""
        return MarioEnv(self.level, **self.options)


class GymVectorEnv(VectorEnv[Obs, Any, Any]):
    """Environments that step one after the other, or in processes; used as `MarioVectorEnv` is.

    Observations, rewards, ends and infos are those of `MarioVectorEnv`. What only the native pool
    can do (save states, levels, routes and step limits that change while it runs) raises an error.
    """

    #: Environments cannot be saved: emulators in other processes keep their memory to themselves.
    saves_states = False

    def __init__(
        self,
        level: str | Sequence[str] = "1-1",
        *,
        num_envs: int = 1,
        vector: str = "async",
        backend: Backend = "native",
        strict_stage: bool = False,
        fallback_sync: bool = False,
        workers: WorkerOptions | None = None,
        render_mode: RenderMode | None = None,
        **options: Unpack[EnvOptions],
    ) -> None:
        """Creates the environments.

        Args:
            level: Levels to play: '1-1', '1-1,1-2', '1-1..1-4', a list, 'all', or 'game'.
            num_envs: Number of environments.
            vector: 'sync' (one after the other in this process) or 'async' (one process each).
            backend: The emulator: 'native' or 'nes-py'.
            strict_stage: Raise an error when the emulator starts another level than requested.
            fallback_sync: Use 'sync', with a warning, when the workers cannot be started.
            workers: How processes are started and watched.
            render_mode: None or 'rgb_array'.
            options: As for `warpzone.make_vec`.

        Raises:
            WorkerError: A worker could not be started; no process is left.
        """
        check_backend(backend)
        check_vector(backend, vector)
        check_keywords(options, *_OWN_KEYWORDS)
        self.num_envs = checked_count("num_envs", num_envs)
        setup = prepare(level, **options)
        self.config = setup.config
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.single_observation_space, self.single_action_space = spaces_of(setup)
        levels = list(self.config.level)
        draws = self.config.level_order == "random"
        self._levels = [levels[index % len(levels)] for index in range(self.num_envs)]
        common = {"backend": backend, "strict_stage": strict_stage, "render_mode": render_mode}
        makers = [
            EnvFactory(levels if draws else level, common | options) for level in self._levels
        ]
        self._draws = draws
        self._gym_env = self._make_env(makers, vector, workers, fallback_sync)
        self.vector = "async" if isinstance(self._env, ProcessVectorEnv) else "sync"
        self.metadata = {**MarioEnv.metadata, **self._env.metadata}
        self.observation_space = self._env.observation_space
        self.action_space = self._env.action_space
        self._info_arrays = InfoArrays(self.num_envs)
        self._obs: Obs = empty_obs(obs_shapes(self.single_observation_space, self.num_envs))
        self._weights: dict[str, Weight] = dict(options.get("weights") or {})

    @property
    def _env(self) -> Any:
        if self.closed:
            raise ClosedError("this environment is closed; create a new one")
        return self._gym_env

    def _make_env(
        self,
        makers: list[EnvFactory],
        vector: str,
        workers: WorkerOptions | None,
        fallback_sync: bool,
    ) -> Any:
        mode = AUTORESET_MODES[self.config.autoreset]
        if vector == "async":
            try:
                return ProcessVectorEnv(
                    makers,
                    env_spaces=(self.single_observation_space, self.single_action_space),
                    autoreset_mode=mode,
                    workers=workers,
                )
            except WorkerError as error:
                if not fallback_sync:
                    raise
                _log.warning("%s; --fallback-sync: all environments run in this process", error)
        return SyncVectorEnv(makers, autoreset_mode=mode)

    # The Gymnasium interface.

    def reset(
        self, *, seed: Seeds = None, options: dict[str, Any] | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        """Begins an episode in every environment, or in those of `options["reset_mask"]`."""
        mask = checked_mask(options, self.num_envs)
        seeds = None if seed is None else checked_seeds(seed, self.num_envs)
        masked = {} if mask.all() else {"reset_mask": mask.copy()}
        obs, info = self._env.reset(seed=seeds, options=masked or None)
        self._take(self._info_arrays, info, mask)
        self._obs = obs
        return obs, self._info_arrays.info()

    def step(
        self, actions: ArrayLike
    ) -> tuple[Obs, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Takes one action in every environment."""
        chosen = checked_actions(actions, self.num_envs)
        count = len(self.config.actions)
        if chosen.min() < 0 or chosen.max() >= count:
            raise ConfigError(f"an action does not exist; actions are 0 to {count - 1}")
        obs, reward, terminated, truncated, info = self._env.step(chosen)
        self._obs = obs
        ended = terminated | truncated
        final = info.get("final_info")
        self._take(self._info_arrays, info, np.ones(self.num_envs, np.bool_))
        result = self._info_arrays.info()
        if final is not None:
            final_arrays = InfoArrays(self.num_envs)
            self._take(final_arrays, final, ended)
            result.update(
                final_obs=self._stacked(info["final_obs"]),
                _final_obs=ended,
                final_info=final_arrays.info(),
                _final_info=ended,
            )
        return obs, reward.astype(np.float32), terminated, truncated, result

    def step_into(
        self,
        actions: ArrayLike,
        obs: Obs,
        reward: NDArray[np.float32],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
    ) -> dict[str, Any]:
        """As `step`, but writes into the caller's arrays and returns only `info`."""
        check_ends(terminated, truncated)
        stepped, reward[:], terminated[:], truncated[:], info = self.step(actions)
        if isinstance(stepped, dict):
            for name, array in stepped.items():
                obs[name][...] = array
        else:
            obs[...] = stepped
        return info

    def render(self) -> Any:
        """Returns the frame of every environment."""
        return self._env.render() if self.render_mode == "rgb_array" else None

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the environments and their processes."""
        self._gym_env.close(**kwargs)

    # Beyond Gymnasium.

    def levels(self) -> list[str]:
        """Returns the level of each environment in the step just taken."""
        return list(self._env.call("level")) if self._draws else list(self._levels)

    def observe(self) -> tuple[Obs, dict[str, Any]]:
        """Returns observations and info of the last reset or step again."""
        return copied_obs(self._obs), self._info_arrays.info()

    def set_reward_weights(self, **weights: Weight) -> None:
        """Changes some reward weights from the next step on, also for workers that are replaced."""
        reward_weights(weights)  # Refused here, before any environment has changed.
        self._weights = self._weights | weights
        self._env.call("set_reward_weights", **weights)
        makers = self._env.env_fns
        for index, maker in enumerate(makers):
            makers[index] = replace(maker, options=maker.options | {"weights": self._weights})

    def save_state(self, env_id: int) -> bytes:
        """Always fails; see `saves_states`."""
        raise StateError(_NO_STATES)

    def load_state(self, blob: bytes, env_ids: Any = None, *, keep_random: bool = False) -> None:
        """Always fails; see `saves_states`."""
        raise StateError(_NO_STATES)

    def save_console(self, env_id: int) -> bytes:
        """Always fails; see `saves_states`."""
        raise StateError(_NO_STATES)

    def set_start_state(
        self, blob: bytes | None, env_ids: Any = None, *, idle: bool = True
    ) -> None:
        """Always fails; see `saves_states`."""
        raise StateError(_NO_STATES)

    def set_level(self, level: str, env_ids: Any = None) -> None:
        """Always fails: each environment was created for its levels."""
        raise ConfigError("levels can change while environments run only with vector='native'")

    def set_route(self, route: Any, env_ids: Any = None) -> None:
        """Always fails: progress is measured by areas."""
        raise ConfigError("progress can follow a route only with vector='native'")

    def set_step_limit(self, steps: int, env_ids: Any = None) -> None:
        """Always fails: these environments know only `max_steps`."""
        raise ConfigError("step limits per environment need vector='native'; use max_steps")

    def _take(self, arrays: InfoArrays, info: dict[str, Any], chosen: NDArray[np.bool_]) -> None:
        """Keeps the infos of some environments; where a field is absent, the last value stays.

        Gymnasium's info has no fields for an environment that was not reset, or whose worker was
        lost.
        """
        for row, name in enumerate(_native.INFO_NUMBERS):
            self._copy(info, name, arrays.numbers[row], chosen)
        for row, name in enumerate(_native.INFO_FLAGS):
            self._copy(info, name, arrays.flags[row], chosen)
        self._copy(info, "reward_terms", arrays.terms, chosen)
        self._copy(info, "enemies", arrays.enemies, chosen)

    def _copy(
        self, info: dict[str, Any], name: str, target: NDArray[Any], chosen: NDArray[np.bool_]
    ) -> None:
        if name not in info:
            return
        present = info[f"_{name}"] & chosen
        values = info[name]
        if values.dtype == object:  # The classic info spells Mario's status as a word.
            values = np.array([_STATUS_NUMBERS.get(value, 0) for value in values])
        target[present] = values[present]

    def _stacked(self, final: NDArray[Any]) -> Obs:
        """Batches the last observations of ended episodes; the others are zero."""
        batch = empty_obs(obs_shapes(self.single_observation_space, self.num_envs))
        for index, obs in enumerate(final):
            if isinstance(obs, dict):
                for name, array in obs.items():
                    batch[name][index] = array
            elif obs is not None:
                batch[index] = obs
        return batch
