"""The vector environment: many games over native threads, written straight into arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Never

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from warpzone import _native
from warpzone.envs.actions import Actions
from warpzone.envs.buffers import (
    InfoArrays,
    Obs,
    ObsBuffer,
    ObsBuffers,
    copied_obs,
    empty_obs,
    obs_parts,
)
from warpzone.envs.checks import (
    Lanes,
    Seeds,
    check_ends,
    check_render_mode,
    checked_actions,
    checked_count,
    checked_lane,
    checked_lanes,
    checked_mask,
    checked_seeds,
    checked_state,
    checked_steps,
    make_route,
)
from warpzone.envs.options import (
    Autoreset,
    Game,
    Hud,
    LevelOrder,
    ObsKind,
    RenderMode,
    RewardKind,
    RomFile,
    Weight,
    check_keywords,
)
from warpzone.envs.setup import observation_space, prepare, reward_weights
from warpzone.errors import ClosedError, ConfigError
from warpzone.system.cpu import processor_cores

#: Gymnasium's names for our `autoreset`.
AUTORESET_MODES = {
    "next-step": AutoresetMode.NEXT_STEP,
    "same-step": AutoresetMode.SAME_STEP,
    "disabled": AutoresetMode.DISABLED,
}


class MarioVectorEnv(VectorEnv[Obs, Any, Any]):
    """Many games of Super Mario Bros., stepped together.

    Observations that `step` returns belong to the caller: memory is used again only once nobody
    refers to it. `info` describes the step just taken: a dict of arrays with a value a lane.
    """

    #: Whether a lane can be saved and gone on with exactly.
    saves_states = True

    def __init__(
        self,
        level: str | Sequence[str] = "1-1",
        *,
        num_envs: int = 1,
        num_threads: int | None = None,
        render_mode: RenderMode | None = None,
        rom: RomFile = None,
        game: Game = "smb",
        weights: Mapping[str, Weight] | None = None,
        level_order: LevelOrder = "cycle",
        obs: ObsKind = "pixels",
        size: int | tuple[int, int] = (0, 0),
        stack: int = 0,
        frame_skip: int = 4,
        max_pool: bool = False,
        show_buttons: bool = False,
        hud: Hud = "keep",
        actions: Actions = "simple",
        sticky_prob: float = 0.0,
        noop_max: int = 0,
        reward: RewardKind = "shaped",
        autoreset: Autoreset = "next-step",
        power: int = 0,
        halfway: bool = False,
        start_state: bytes = b"",
        max_steps: int = 0,
        stagnation_limit: int = 0,
        one_life: bool | None = None,
        one_level: bool | None = None,
        exact: bool = False,
        **unknown: Never,
    ) -> None:
        """Creates the environments and starts the threads; see `warpzone.make_vec`."""
        check_keywords(unknown, "num_envs", "num_threads", "render_mode")
        if num_threads is None:
            num_threads = processor_cores()
        num_envs = checked_count("num_envs", num_envs)
        num_threads = checked_count("num_threads", num_threads)
        check_render_mode(render_mode)
        setup = prepare(
            level,
            rom=rom,
            game=game,
            weights=weights,
            level_order=level_order,
            obs=obs,
            size=size,
            stack=stack,
            frame_skip=frame_skip,
            max_pool=max_pool,
            show_buttons=show_buttons,
            hud=hud,
            actions=actions,
            sticky_prob=sticky_prob,
            noop_max=noop_max,
            reward=reward,
            autoreset=autoreset,
            power=power,
            halfway=halfway,
            start_state=start_state,
            max_steps=max_steps,
            stagnation_limit=stagnation_limit,
            one_life=one_life,
            one_level=one_level,
            exact=exact,
        )
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
            "autoreset_mode": AUTORESET_MODES[self.config.autoreset],
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
        self._info_arrays = InfoArrays(lanes)
        same_step = self.config.autoreset == "same-step"
        self._final: Obs = empty_obs(self.observation_space) if same_step else None
        self._seeded = np.zeros(lanes, np.bool_)
        self._obs_buffers = ObsBuffers(self._new_buffer)

    def _make_batch(
        self,
        obs: Obs,
        reward: NDArray[np.float32],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
    ) -> _native.Batch:
        pictures, features = obs_parts(obs)
        final_pictures, final_features = obs_parts(self._final)
        return self._pool.batch(
            pictures,
            features,
            reward,
            terminated.view(np.uint8),
            truncated.view(np.uint8),
            final_pictures,
            final_features,
            self._info_arrays.numbers,
            self._info_arrays.flags.view(np.uint8),
            self._info_arrays.terms,
            self._info_arrays.enemies,
        )

    @property
    def _pool(self) -> _native.Pool:
        if self._native_pool is None:
            raise ClosedError("this environment is closed; make a new one")
        return self._native_pool

    def _new_buffer(self) -> ObsBuffer:
        return ObsBuffer(
            self.observation_space,
            lambda obs: self._make_batch(obs, self._reward, self._terminated, self._truncated),
        )

    # The Gymnasium interface.

    def reset(
        self,
        *,
        seed: Seeds = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Obs, dict[str, Any]]:
        """Begins an episode in every lane, or in those of `options["reset_mask"]`.

        Args:
            seed: Lane i gets `seed + i`, or the i-th of a list. Without a seed a lane's random
                stream goes on.
            options: `{"reset_mask": mask}` resets only some lanes.
        """
        mask = checked_mask(options, self.num_envs)
        seeds = self._seeds(seed, mask)
        obs, batch = self._obs_buffers.lease()
        self._pool.reset(seeds, mask.view(np.uint8), batch)
        self._seeded |= mask
        if not mask.all():
            self._pool.observe(np.flatnonzero(~mask).tolist(), batch)
        return obs, self._info_arrays.info()

    def _seeds(self, seed: Seeds, mask: NDArray[np.bool_]) -> list[int | None]:
        if seed is not None:
            seeds = checked_seeds(seed, self.num_envs)
            super().reset(seed=seeds[0])
            return seeds
        if self._seeded[mask].all():
            return []
        first = int(self.np_random.integers(2**62))
        return [None if self._seeded[lane] else first + lane for lane in range(self.num_envs)]

    def step(
        self, actions: ArrayLike
    ) -> tuple[Obs, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """One action in every lane."""
        obs, batch = self._obs_buffers.lease()
        self._pool.step(checked_actions(actions, self.num_envs), batch)
        return (
            obs,
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
            check_ends(terminated, truncated)
            batch = self._make_batch(obs, reward, terminated, truncated)
        except (TypeError, KeyError, AttributeError) as error:
            raise ConfigError(
                "step_into takes writable, C-contiguous arrays: uint8 obs (a dict of 'tiles' and "
                "'features' for tiles), float32 reward, bool terminated and truncated"
            ) from error
        self._pool.step(checked_actions(actions, self.num_envs), batch)
        return self._step_info(terminated | truncated)

    def _step_info(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        """Info, and with same-step autoreset how the episodes that ended looked at their end."""
        info = self._info_arrays.info()
        if self._final is not None and np.count_nonzero(ended):  # Faster than `any`.
            info.update(
                final_obs=copied_obs(self._final),
                _final_obs=ended,
                final_info=dict(info),
                _final_info=ended,
            )
        return info

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """The last drawn screen of every lane, each 240 x 256 x 3."""
        if self.render_mode != "rgb_array":
            return None
        return tuple(self._pool.picture(lane) for lane in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the threads and frees the lanes."""
        self._obs_buffers.clear()
        self._native_pool = None

    # Beyond Gymnasium.

    def observe(self) -> tuple[Obs, dict[str, Any]]:
        """Observations and info of the present moment, without a step: after `load_state`, say."""
        obs, batch = self._obs_buffers.lease()
        self._pool.observe(list(range(self.num_envs)), batch)
        return obs, self._info_arrays.info()

    def save_state(self, lane: int) -> bytes:
        """The whole lane: machine, episode, random stream and stacked pictures."""
        return self._pool.save(checked_lane(lane, self.num_envs))

    def save_console(self, lane: int) -> bytes:
        """The machine of a lane alone: smaller than `save_state`, and enough to start from."""
        return self._pool.save_console(checked_lane(lane, self.num_envs))

    def load_state(self, blob: bytes, lanes: Lanes = None, *, keep_random: bool = False) -> None:
        """Puts lanes where `blob` was saved; `observe` tells what they see there.

        Args:
            blob: From `save_state` of an env with the same observations, or from `Console.save`.
            lanes: Which ones; all by default.
            keep_random: Leave each lane its own random stream instead of the saved one.
        """
        state = checked_state(blob)
        for lane in checked_lanes(lanes, self.num_envs):
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
        for lane in checked_lanes(lanes, self.num_envs):
            self._pool.set_level(lane, level)

    def levels(self) -> list[str]:
        """The level of each lane."""
        return [self._pool.level(lane) for lane in range(self.num_envs)]

    def set_start_state(
        self, blob: bytes | None, lanes: Lanes = None, *, idle: bool = True
    ) -> None:
        """Gives lanes a save state to start from, or takes it away, from their next reset on.

        Args:
            blob: From `save_state`, `save_console` or `Console.save`; None for the level's start.
            lanes: Which ones; all by default.
            idle: Whether the random idle frames (`noop_max`) come before play there as well.
        """
        state = b"" if blob is None else checked_state(blob)
        for lane in checked_lanes(lanes, self.num_envs):
            self._pool.set_start_state(lane, state, idle)

    def set_route(
        self, way: Sequence[tuple[int, int, int]] | _native.Route | None, lanes: Lanes = None
    ) -> None:
        """Measures progress along way points (area, x, y), from the next reset or load on.

        Args:
            way: The points, or what `make_route` made of them, or None for none.
            lanes: Which ones; all by default.
        """
        route = way if isinstance(way, _native.Route) else make_route(way)
        for lane in checked_lanes(lanes, self.num_envs):
            self._pool.set_route(lane, route)

    def set_step_limit(self, steps: int, lanes: Lanes = None) -> None:
        """Cuts episodes after so many steps, from the next reset or load on.

        Args:
            steps: At least 1, or 0 for none besides `max_steps`.
            lanes: Which ones; all by default.
        """
        limit = checked_steps(steps)
        for lane in checked_lanes(lanes, self.num_envs):
            self._pool.set_step_limit(lane, limit)

    def set_reward_weights(self, **weights: Weight) -> None:
        """Changes some reward weights, from the next step on."""
        self._pool.set_weights(reward_weights({**self._pool.weights().as_dict(), **weights}))

    def reward_weights(self) -> dict[str, Weight]:
        """The reward weights in use."""
        return dict(self._pool.weights().as_dict())

    @property
    def native_seconds(self) -> float:
        """Time spent so far inside the native reset and step."""
        return self._pool.seconds
