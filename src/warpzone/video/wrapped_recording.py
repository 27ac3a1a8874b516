"""A recorded environment inside vector wrappers."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from warpzone.envs.console import Console
from warpzone.envs.wrapping import Wrap, wrapped
from warpzone.video.recorded_env import RecordedEnv


class WrappedRecording:
    """Behaves like `RecordedEnv`; observations, rewards and infos are those of the wrappers.

    The wrappers see a vector of one environment.
    """

    def __init__(self, env: RecordedEnv, wrap: Wrap):
        """Puts wrappers around a recorded environment.

        Raises:
            ConfigError: What `wrap` returns is not around the environment.
        """
        self._env = env
        vector = SyncVectorEnv([lambda: env], autoreset_mode=AutoresetMode.DISABLED)
        self._outer = wrapped(vector, wrap)

    def reset(self, *, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts an episode and keeps only its first frame."""
        obs, info = self._outer.reset(seed=seed)
        return _first(obs), _first(info)

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Takes a step and keeps its frames."""
        obs, reward, terminated, truncated, info = self._outer.step(np.array([action]))
        ends = bool(terminated[0]), bool(truncated[0])
        return _first(obs), float(reward[0]), *ends, _first(info)

    def run_idle(self, frames: int) -> None:
        """Runs and keeps frames without pressing buttons."""
        self._env.run_idle(frames)

    @property
    def frames(self) -> list[tuple[NDArray[np.uint8], int]]:
        """Screen and buttons of each frame of the last `reset`, `step` or `run_idle`."""
        return self._env.frames

    @property
    def sounds(self) -> list[NDArray[np.float32]]:
        """Samples of each of these frames, if `console.set_sound` was called."""
        return self._env.sounds

    @property
    def console(self) -> Console:
        """The console that plays."""
        return self._env.console


def _first(batch: Any) -> Any:
    """What belongs to the only environment."""
    if isinstance(batch, dict):
        return {name: _first(part) for name, part in batch.items()}
    return batch[0]
