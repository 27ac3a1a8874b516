"""An environment that keeps every emulated frame of a step, not only the observed ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone import _native
from warpzone.envs.backends.machine import Backend, Machine
from warpzone.envs.backends.native import NativeMachine
from warpzone.envs.setup import EnvSetup
from warpzone.envs.single import MarioEnv, Obs

FRAMES_PER_SECOND = 60


class _RecordedConsole(NativeMachine):
    """Draws and keeps every frame and its sound. Neither affects the emulation."""

    def __init__(self, setup: EnvSetup, image: _native.ImageWriter) -> None:
        super().__init__(setup, image)
        self.frames: list[tuple[NDArray[np.uint8], int]] = []
        self.sounds: list[NDArray[np.float32]] = []

    def run_frame(self, buttons: int = 0, render: bool = True, buttons2: int = 0) -> None:
        del render
        super().run_frame(buttons, True, buttons2)
        self.frames.append((self.screen, buttons))
        self.sounds.append(self.sound)

    def forget(self, keep: int = 0) -> None:
        """Drops all frames but the last `keep`."""
        del self.frames[: len(self.frames) - keep]
        del self.sounds[: len(self.sounds) - keep]


class RecordedEnv(MarioEnv):
    """Behaves exactly like `MarioEnv` and also keeps the frames of the last step."""

    def __init__(self, level: Any = "1-1", **options: Any) -> None:
        """Creates an environment.

        Args:
            level: See `MarioEnv`.
            options: See `MarioEnv`.
        """
        super().__init__(level, render_mode="rgb_array", **options)

    def _make_machine(self, backend: Backend, strict_stage: bool) -> Machine:
        """Only our own console can draw every frame."""
        self._recorded = _RecordedConsole(self._setup, self._image)
        return self._recorded

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        """Starts an episode and keeps only its first frame."""
        self._recorded.forget()
        result = super().reset(seed=seed, options=options)
        self._recorded.forget(keep=1)  # Drops the no-op frames before the start.
        return result

    def step(self, action: Any) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        """Takes a step and keeps its frames."""
        self._recorded.forget()
        return super().step(action)

    def run_idle(self, frames: int) -> None:
        """Runs and keeps frames without pressing buttons, to show what follows the episode."""
        self._recorded.forget()
        for _ in range(frames):
            self._recorded.run_frame(0)

    @property
    def frames(self) -> list[tuple[NDArray[np.uint8], int]]:
        """Screen and buttons of each frame of the last `reset`, `step` or `run_idle`."""
        return list(self._recorded.frames)

    @property
    def sounds(self) -> list[NDArray[np.float32]]:
        """Samples of each of these frames, if `console.set_sound` was called."""
        return list(self._recorded.sounds)
