"""The vector environment: many games over native threads, written straight into arrays."""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from warpzone import _native
from warpzone.envs.setup import Weight, check_render_mode, observation_space, prepare
from warpzone.errors import ClosedError, ConfigError, StateError

_AUTORESET_MODES = {
    "next-step": AutoresetMode.NEXT_STEP,
    "same-step": AutoresetMode.SAME_STEP,
    "disabled": AutoresetMode.DISABLED,
}

# More lanes than this are a slip of the finger: their memory alone would be tens of gigabytes.
_MOST = 100_000

Obs = Any  # An array, or a dict of arrays for tiles.
Lanes = int | Sequence[int] | None  # None means all of them.


class _ObsBuffer:
    """Arrays for one batch of observations, with the native batch that writes into them."""

    def __init__(self, env: MarioVectorEnv) -> None:
        space = env.observation_space
        if env.config.obs == "tiles":
            self.obs: Obs = {
                name: np.zeros(box.shape, np.uint8)
                for name, box in space.spaces.items()  # type: ignore[attr-defined]
            }
        else:
            self.obs = np.zeros(space.shape, np.uint8)
        self.batch = env._make_batch(self.obs, env._reward, env._terminated, env._truncated)
        # How many references count as nobody's differs between Python versions: measured here.
        self._own_references = self._references()

    def _references(self) -> int:
        if isinstance(self.obs, dict):
            return max(sys.getrefcount(array) for array in self.obs.values())
        return sys.getrefcount(self.obs)

    def unshared(self) -> bool:
        """Whether no user holds these arrays any more."""
        return self._references() <= self._own_references


class MarioVectorEnv(VectorEnv[Obs, Any, Any]):
    """Many games of Super Mario Bros., stepped together.

    Observations that `step` returns belong to the caller: memory is used again only once nobody
    refers to it. `info` describes the step just taken: a dict of arrays with a value a lane.
    """

    def __init__(
        self,
        level: str | Sequence[str] = "1-1",
        *,
        num_envs: int = 1,
        num_threads: int | None = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        """Makes the lanes and starts the threads.

        Args:
            level: A level ('1-1'), several ('1-1,1-2', or a list), 'all', or 'game'.
            num_envs: Number of lanes.
            num_threads: Threads to share them; by default one a processor core.
            render_mode: None or 'rgb_array'.
            options: `rom`, `game`, `weights`, and the parameters in `warpzone.parameter_help()`.
        """
        if num_threads is None:
            num_threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (
                os.cpu_count() or 1
            )
        num_envs = _checked_count("num_envs", num_envs)
        num_threads = _checked_count("num_threads", num_threads)
        check_render_mode(render_mode)
        setup = prepare(level, **options)
        self.config = setup.config
        self.num_envs = num_envs
        self.render_mode = render_mode
        self._native_pool: _native.Pool | None = _native.Pool(
            setup.image, setup.game, setup.config, num_envs, num_threads
        )
        pool = self._native_pool
        pool.set_weights(setup.weights)
        self.metadata = {
            "render_modes": ["rgb_array"],
            "render_fps": 60 // self.config.frame_skip,
            "autoreset_mode": _AUTORESET_MODES[self.config.autoreset],
        }
        self.single_observation_space = observation_space(
            self.config, pool.height, pool.width, pool.stack
        )
        self.single_action_space = setup.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._allocate()

    def _allocate(self) -> None:
        lanes = self.num_envs
        self._reward = np.zeros(lanes, np.float32)
        self._terminated = np.zeros(lanes, np.bool_)
        self._truncated = np.zeros(lanes, np.bool_)
        self._number_names = tuple(_native.INFO_NUMBERS)
        self._flag_names = tuple(_native.INFO_FLAGS)
        self._numbers = np.zeros((len(self._number_names), lanes), np.int32)
        self._flags = np.zeros((len(self._flag_names), lanes), np.bool_)
        self._terms = np.zeros((lanes, len(_native.REWARD_TERMS)), np.float32)
        self._enemies = np.zeros((lanes, *_native.ENEMY_SHAPE), np.int32)
        self._final: Obs = None
        if self.config.autoreset == "same-step":
            space = self.observation_space
            self._final = (
                {name: np.zeros(box.shape, np.uint8) for name, box in space.spaces.items()}  # type: ignore[attr-defined]
                if self.config.obs == "tiles"
                else np.zeros(space.shape, np.uint8)
            )
        self._seeded = np.zeros(lanes, np.bool_)
        self._buffers: list[_ObsBuffer] = []

    def _make_batch(
        self,
        obs: Obs,
        reward: NDArray[np.float32],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
    ) -> _native.Batch:
        pictures, features = _parts(obs)
        final_pictures, final_features = _parts(self._final)
        return self._pool.batch(
            pictures,
            features,
            reward,
            terminated.view(np.uint8),
            truncated.view(np.uint8),
            final_pictures,
            final_features,
            self._numbers,
            self._flags.view(np.uint8),
            self._terms,
            self._enemies,
        )

    @property
    def _pool(self) -> _native.Pool:
        if self._native_pool is None:
            raise ClosedError("this environment is closed; make a new one")
        return self._native_pool

    def _free_buffer(self) -> _ObsBuffer:
        for buffer in self._buffers:
            if buffer.unshared():
                return buffer
        buffer = _ObsBuffer(self)
        if len(self._buffers) < 4:
            self._buffers.append(buffer)
        return buffer

    # The Gymnasium interface.

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Obs, dict[str, Any]]:
        """Begins an episode in every lane, or in those of `options["reset_mask"]`.

        Args:
            seed: Lane i gets `seed + i`, or the i-th of a list. Without a seed a lane's random
                stream goes on.
            options: `{"reset_mask": mask}` resets only some lanes.
        """
        mask = self._reset_mask(options)
        seeds = self._seeds(seed, mask)
        buffer = self._free_buffer()
        self._pool.reset(seeds, mask.view(np.uint8), buffer.batch)
        self._seeded |= mask
        if not mask.all():
            self._pool.observe(np.flatnonzero(~mask).tolist(), buffer.batch)
        return self._hand_out(buffer), self._info()

    def _reset_mask(self, options: dict[str, Any] | None) -> NDArray[np.bool_]:
        if options is not None and not isinstance(options, Mapping):
            raise ConfigError(f"options must be a dict or None, not {type(options).__name__}")
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        mask = np.asarray(mask)
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise ConfigError(
                f"reset_mask must hold {self.num_envs} booleans, not {mask.dtype} "
                f"of shape {mask.shape}"
            )
        return np.ascontiguousarray(mask)

    def _seeds(
        self, seed: int | Sequence[int | None] | None, mask: NDArray[np.bool_]
    ) -> list[int | None]:
        if seed is None:
            if self._seeded[mask].all():
                return []
            first = int(self.np_random.integers(2**62))
            return [
                None if self._seeded[lane] else first + lane for lane in range(self.num_envs)
            ]
        try:
            if isinstance(seed, Sequence | np.ndarray):
                seeds = [None if one is None else operator.index(one) for one in seed]
            else:
                seeds = [operator.index(seed) + lane for lane in range(self.num_envs)]
        except TypeError:
            raise ConfigError(f"seed is {seed!r}; it must be a whole number or a list") from None
        if len(seeds) != self.num_envs:
            raise ConfigError(f"{len(seeds)} seeds were given for {self.num_envs} lanes")
        if any(one is not None and not 0 <= one < 2**64 for one in seeds):
            raise ConfigError(f"seed is {seed}; seeds go from 0 to 2**64 - 1")
        super().reset(seed=seeds[0])
        return seeds

    def step(
        self, actions: ArrayLike
    ) -> tuple[Obs, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """One action in every lane."""
        buffer = self._free_buffer()
        self._pool.step(self._checked_actions(actions), buffer.batch)
        return (
            self._hand_out(buffer),
            self._reward.copy(),
            self._terminated.copy(),
            self._truncated.copy(),
            self._step_info(self._terminated | self._truncated),
        )

    def step_into(
        self,
        actions: ArrayLike,
        obs: Obs,
        reward: NDArray[np.float32],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
    ) -> dict[str, Any]:
        """As `step`, but writes into the caller's arrays and returns only `info`.

        Args:
            actions: One a lane.
            obs: uint8, C-contiguous, shaped like `observation_space`; a dict of two for tiles.
            reward: float32, one a lane.
            terminated: bool, one a lane.
            truncated: bool, one a lane.
        """
        try:
            batch = self._make_batch(obs, reward, terminated, truncated)
        except (TypeError, KeyError, AttributeError) as error:
            raise ConfigError(
                "step_into takes writable, C-contiguous arrays: uint8 obs (a dict of 'tiles' and "
                "'features' for tiles), float32 reward, bool terminated and truncated"
            ) from error
        self._pool.step(self._checked_actions(actions), batch)
        return self._step_info(terminated | truncated)

    def _step_info(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        """Info, and with same-step autoreset how the episodes that ended looked at their end."""
        info = self._info()
        if self._final is not None and ended.any():
            info.update(
                final_obs=_copied(self._final),
                _final_obs=ended,
                final_info=dict(info),
                _final_info=ended,
            )
        return info

    def _checked_actions(self, actions: ArrayLike) -> NDArray[np.int32]:
        try:
            array = np.asarray(actions)
        except ValueError:  # Rows of different lengths.
            raise ConfigError(f"actions must be {self.num_envs} whole numbers") from None
        if array.dtype.kind not in "iu":
            raise ConfigError(f"actions must be whole numbers, not {array.dtype}")
        if array.shape != (self.num_envs,):
            raise ConfigError(
                f"actions have shape {array.shape}; with {self.num_envs} lanes it must be "
                f"({self.num_envs},)"
            )
        if array.dtype != np.int32:
            # A number too large for 32 bits must not come back as a small one.
            array = np.clip(array, -1, 2**31 - 1).astype(np.int32)
        return np.ascontiguousarray(array)

    def _hand_out(self, buffer: _ObsBuffer) -> Obs:
        # The dict is made anew, so that the reference count of its arrays tells who holds them.
        return dict(buffer.obs) if isinstance(buffer.obs, dict) else buffer.obs

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = dict(zip(self._number_names, self._numbers.copy(), strict=True))
        info.update(zip(self._flag_names, self._flags.copy(), strict=True))
        info["reward_terms"] = self._terms.copy()
        info["enemies"] = self._enemies.copy()
        return info

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """The last drawn screen of every lane, each 240 x 256 x 3."""
        if self.render_mode != "rgb_array":
            return None
        return tuple(self._pool.picture(lane) for lane in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the threads and frees the lanes."""
        self._buffers = []
        self._native_pool = None

    # Beyond Gymnasium.

    def observe(self) -> tuple[Obs, dict[str, Any]]:
        """Observations and info of the present moment, without a step: after `load_state`, say."""
        buffer = self._free_buffer()
        self._pool.observe(list(range(self.num_envs)), buffer.batch)
        return self._hand_out(buffer), self._info()

    def save_state(self, lane: int) -> bytes:
        """The whole lane: machine, episode, random stream and stacked pictures."""
        return self._pool.save(*self._lanes(lane))

    def load_state(
        self, blob: bytes, lanes: Lanes = None, *, keep_random: bool = False
    ) -> None:
        """Puts lanes where `blob` was saved; `observe` tells what they see there.

        Args:
            blob: From `save_state` of an env with the same observations, or from `Console.save`.
            lanes: Which ones; all by default.
            keep_random: Leave each lane its own random stream instead of the saved one.
        """
        state = _checked_blob(blob)
        for lane in self._lanes(lanes):
            self._pool.load(lane, state, keep_random)

    def ram(self) -> NDArray[np.uint8]:
        """A read-only copy of every lane's RAM, (num_envs, 2048)."""
        ram = self._pool.ram()
        ram.flags.writeable = False
        return ram

    def set_level(self, level: str, lanes: Lanes = None) -> None:
        """Gives lanes another level, from their next reset on; they draw no random ones then."""
        if not isinstance(level, str):
            raise ConfigError(f"level is {level!r}; levels are written like '1-1'")
        for lane in self._lanes(lanes):
            self._pool.set_level(lane, level)

    def levels(self) -> list[str]:
        """The level of each lane."""
        return [self._pool.level(lane) for lane in range(self.num_envs)]

    def set_start_state(self, blob: bytes | None, lanes: Lanes = None) -> None:
        """Gives lanes a save state to start from, or takes it away, from their next reset on."""
        state = b"" if blob is None else _checked_blob(blob)
        for lane in self._lanes(lanes):
            self._pool.set_start_state(lane, state)

    def set_route(
        self, way: Sequence[tuple[int, int, int]] | None, lanes: Lanes = None
    ) -> None:
        """Measures progress along way points (area, x, y), from the next reset or load on."""
        try:
            points = [[operator.index(number) for number in point] for point in way or ()]
            for lane in self._lanes(lanes):
                self._pool.set_route(lane, points)
        except TypeError as error:
            raise ConfigError("a route is a list of way points (area, x, y)") from error

    def set_reward_weights(self, **weights: Weight) -> None:
        """Changes some reward weights, from the next step on."""
        merged: Mapping[str, Any] = {**self._pool.weights().as_dict(), **weights}
        self._pool.set_weights(_native.RewardWeights(**merged))

    def reward_weights(self) -> dict[str, Weight]:
        """The reward weights in use."""
        return dict(self._pool.weights().as_dict())

    def _lanes(self, lanes: Lanes) -> list[int]:
        """Checked before anything is changed."""
        if lanes is None:
            return list(range(self.num_envs))
        try:
            several: Any = [lanes] if isinstance(lanes, int | np.integer) else lanes
            chosen = [operator.index(lane) for lane in several]
        except TypeError:
            raise ConfigError(f"lanes are {lanes!r}; give a number or a list of them") from None
        for lane in chosen:
            if not 0 <= lane < self.num_envs:
                raise ConfigError(f"lane {lane} does not exist; there are {self.num_envs}")
        return chosen

    @property
    def native_seconds(self) -> float:
        """Time spent so far inside the native reset and step."""
        return self._pool.seconds


def _parts(obs: Obs) -> tuple[Any, Any]:
    if obs is None:
        return None, None
    return (obs["tiles"], obs["features"]) if isinstance(obs, Mapping) else (obs, None)


def _copied(obs: Obs) -> Obs:
    return {name: array.copy() for name, array in obs.items()} if isinstance(obs, dict) else (
        obs.copy()
    )


def _checked_count(name: str, value: Any) -> int:
    if not isinstance(value, int | np.integer):
        raise ConfigError(f"{name} is {value!r}; it must be a whole number")
    if not 1 <= value <= _MOST:
        raise ConfigError(f"{name} is {value}; it must be at least 1 and at most {_MOST}")
    return int(value)


def _checked_blob(blob: Any) -> bytes:
    if not isinstance(blob, bytes | bytearray | memoryview):
        raise ConfigError(f"a save state is bytes, not {type(blob).__name__}")
    if not blob:
        raise StateError("this is no save state: it is empty")
    return bytes(blob)
