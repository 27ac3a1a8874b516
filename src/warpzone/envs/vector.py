"""The vector environment: many environments on native threads, written straight into arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Never

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from warpzone import _native
from warpzone.envs.actions import Actions
from warpzone.envs.async_steps import AsyncSteps
from warpzone.envs.buffers import Obs
from warpzone.envs.checks import (
    Seeds,
    check_ends,
    check_render_mode,
    checked_actions,
    checked_count,
    checked_mask,
    checked_seeds,
)
from warpzone.envs.controls import EnvControls
from warpzone.envs.options import (
    Autoreset,
    Channels,
    Game,
    Hud,
    LevelOrder,
    ObsKind,
    RenderMode,
    RewardKind,
    RomFile,
    Sticky,
    Weight,
    check_keywords,
)
from warpzone.envs.setup import observation_space, prepare
from warpzone.envs.step_arrays import StepArrays, StepResult
from warpzone.errors import ClosedError, ConfigError
from warpzone.system.cpu import processor_cores

#: Gymnasium's names for the values of `autoreset`.
AUTORESET_MODES = {
    "next-step": AutoresetMode.NEXT_STEP,
    "same-step": AutoresetMode.SAME_STEP,
    "disabled": AutoresetMode.DISABLED,
}


class MarioVectorEnv(EnvControls, AsyncSteps, VectorEnv[Obs, Any, Any]):
    """Many environments of Super Mario Bros., stepped together or each on its own (`send`).

    Observations that `step` returns belong to the caller: their memory is reused only when nothing
    refers to it any more. `info` is a dict of arrays with one value per environment. With same-step
    autoreset it follows Gymnasium: where an episode ended, it is that of the new episode's reset,
    and `info["final_info"]` has the last info of the old one; `warpzone.step_info.step_info`
    merges the two.
    """

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
        channels: Channels = "last",
        size: int | tuple[int, int] = (0, 0),
        stack: int = 0,
        frame_skip: int = 4,
        max_pool: bool = False,
        show_buttons: bool = False,
        hud: Hud = "keep",
        actions: Actions = "simple",
        sticky_prob: float = 0.0,
        sticky: Sticky = "frame",
        noop_max: int = 0,
        game_start_prob: float = 0.0,
        reward: RewardKind = "shaped",
        autoreset: Autoreset = "next-step",
        power: int = 0,
        random_power: float = 0.0,
        reseed_game: bool = False,
        start_random_steps: int = 0,
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
            channels=channels,
            size=size,
            stack=stack,
            frame_skip=frame_skip,
            max_pool=max_pool,
            show_buttons=show_buttons,
            hud=hud,
            actions=actions,
            sticky_prob=sticky_prob,
            sticky=sticky,
            noop_max=noop_max,
            game_start_prob=game_start_prob,
            reward=reward,
            autoreset=autoreset,
            power=power,
            random_power=random_power,
            reseed_game=reseed_game,
            start_random_steps=start_random_steps,
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
        self._seeded = np.zeros(num_envs, np.bool_)
        self._arrays = self._received = self._new_arrays(num_envs)

    def _new_arrays(self, count: int) -> StepArrays:
        return StepArrays(
            count,
            self.single_observation_space,
            lambda: self._pool,
            same_step=self.config.autoreset == "same-step",
        )

    def _arrays_of(self, count: int) -> StepArrays:
        """Returns arrays for results of `recv`; only those of the last size are kept."""
        if count == self.num_envs:
            return self._arrays
        if self._received.count != count:
            self._received = self._new_arrays(count)
        return self._received

    @property
    def _pool(self) -> _native.Pool:
        if self._native_pool is None:
            raise ClosedError("this environment is closed; create a new one")
        return self._native_pool

    # The Gymnasium interface.

    def reset(
        self,
        *,
        seed: Seeds = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Obs, dict[str, Any]]:
        """Begins an episode in every environment, or in those of `options["reset_mask"]`.

        Args:
            seed: Environment i gets `seed + i`, or item i of a list. Without a seed, random streams
                continue.
            options: `{"reset_mask": mask}` resets only some environments.
        """
        mask = checked_mask(options, self.num_envs)
        seeds = self._seeds(seed, mask)
        obs, batch = self._arrays.lease()
        self._pool.reset(seeds, mask.view(np.uint8), batch)
        self._seeded |= mask
        if not mask.all():
            self._pool.observe(np.flatnonzero(~mask).tolist(), batch)
        return obs, self._arrays.info.info()

    def _seeds(self, seed: Seeds, mask: NDArray[np.bool_]) -> list[int | None]:
        if seed is not None:
            seeds = checked_seeds(seed, self.num_envs)
            super().reset(seed=seeds[0])
            return seeds
        if self._seeded[mask].all():
            return []
        first = int(self.np_random.integers(2**62))
        return [None if seeded else first + index for index, seeded in enumerate(self._seeded)]

    def step(self, actions: ArrayLike) -> StepResult:
        """Takes one action in every environment."""
        obs, batch = self._arrays.lease()
        self._pool.step(checked_actions(actions, self.num_envs), batch)
        return self._arrays.result(obs)

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
            actions: One per environment.
            obs: uint8, C-contiguous, shaped like `observation_space`; a dict of two for tiles.
            reward: float32, one per environment.
            terminated: bool, one per environment.
            truncated: bool, one per environment.
        """
        try:
            check_ends(terminated, truncated)
            batch = self._arrays.batch(obs, reward, terminated, truncated)
        except (TypeError, KeyError, AttributeError) as error:
            raise ConfigError(
                "step_into takes writable, C-contiguous arrays: uint8 obs (a dict of 'tiles' and "
                "'features' for tiles), float32 reward, bool terminated and truncated"
            ) from error
        self._pool.step(checked_actions(actions, self.num_envs), batch)
        return self._arrays.step_info(terminated | truncated)

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """Returns the last drawn frame of every environment, each 240 x 256 x 3."""
        if self.render_mode != "rgb_array":
            return None
        return tuple(self._pool.screen(index) for index in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the threads and frees the environments."""
        self._arrays.clear()
        self._received.clear()
        self._native_pool = None

    # Beyond Gymnasium.

    def observe(self) -> tuple[Obs, dict[str, Any]]:
        """Returns observations and info of the present moment, for example after `load_state`."""
        obs, batch = self._arrays.lease()
        self._pool.observe(list(range(self.num_envs)), batch)
        return obs, self._arrays.info.info()

    @property
    def pool(self) -> _native.Pool:
        """The native pool, for native code that plays in its threads (`_native.RolloutPlayer`)."""
        return self._pool

    @property
    def native_seconds(self) -> float:
        """Seconds spent so far inside the native reset, step and recv."""
        return self._pool.seconds
