"""The arrays that a step of some environments writes into, and the results made from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from warpzone import _native
from warpzone.envs.buffers import (
    InfoArrays,
    Obs,
    ObsBuffer,
    ObsBuffers,
    copied_obs,
    empty_obs,
    obs_parts,
    obs_shapes,
)

#: Observation, reward, terminated, truncated, info.
StepResult = tuple[Obs, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class StepArrays:
    """Memory for the results of a number of environments.

    Observations are leased to the user (`ObsBuffers`); the other arrays are small, and results
    hold copies of them.
    """

    def __init__(
        self,
        count: int,
        single_space: spaces.Space[Any],
        pool: Callable[[], _native.Pool],
        *,
        same_step: bool,
    ) -> None:
        """Allocates the memory.

        Args:
            count: How many environments.
            single_space: The observation space of one environment.
            pool: Returns the pool whose environments write here.
            same_step: Whether the last moments of episodes are written too.
        """
        shapes = obs_shapes(single_space, count)
        self.count = count
        self._pool = pool
        self.info = InfoArrays(count)
        self._reward = np.zeros(count, np.float32)
        self._terminated = np.zeros(count, np.bool_)
        self._truncated = np.zeros(count, np.bool_)
        self._final_obs: Obs = empty_obs(shapes) if same_step else None
        self._final_info = InfoArrays(count) if same_step else None
        self._obs_buffers = ObsBuffers(lambda: ObsBuffer(shapes, self._own_batch))

    def _own_batch(self, obs: Obs) -> _native.Batch:
        return self.batch(obs, self._reward, self._terminated, self._truncated)

    def batch(
        self,
        obs: Obs,
        reward: NDArray[np.float32],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
    ) -> _native.Batch:
        """Returns a native batch that writes into the caller's arrays, and the rest into these."""
        images, features = obs_parts(obs)
        final_images, final_features = obs_parts(self._final_obs)
        return self._pool().batch(
            self.count,
            images,
            features,
            reward,
            terminated.view(np.uint8),
            truncated.view(np.uint8),
            self.info.all(),
            final_images,
            final_features,
            None if self._final_info is None else self._final_info.all(),
        )

    def lease(self) -> tuple[Obs, _native.Batch]:
        """Returns observations that belong to the caller, and the batch that writes into them."""
        return self._obs_buffers.lease()

    def result(self, obs: Obs, **more: Any) -> StepResult:
        """Returns the result of a step that wrote into `obs`; `more` goes into its info."""
        terminated, truncated = self._terminated.copy(), self._truncated.copy()
        if self._final_info is None:
            info = self.info.info(**more)
        else:
            info = self.step_info(terminated | truncated, **more)
        return obs, self._reward.copy(), terminated, truncated, info

    def step_info(self, ended: NDArray[np.bool_], **more: Any) -> dict[str, Any]:
        """Returns the info; with same-step autoreset also the last moments of ended episodes."""
        if self._final_info is not None and np.count_nonzero(ended):  # Faster than `any`.
            more.update(
                final_obs=copied_obs(self._final_obs),
                _final_obs=ended,
                final_info=self._final_info.info(),
                _final_info=ended,
            )
            self._final_info.clear()
        return self.info.info(**more)

    def clear(self) -> None:
        """Lets go of the observations; arrays that the user holds stay valid."""
        self._obs_buffers.clear()
