"""Small environment that fails at a given stage; workers import it."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces


class FaultEnv(gym.Env[Any, Any]):
    """Counts its steps; may die, sleep forever, or raise in `build`, `reset` or `step`."""

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(self, lane: int, stage: str, fault: str, once: Path | None) -> None:
        self.observation_space = spaces.Box(0, 255, (2,), np.uint8)
        self.action_space = spaces.Discrete(3)
        self.lane, self._stage, self._fault, self._once = lane, stage, fault, once
        self.count = 0
        self._fail("build")

    def _fail(self, stage: str) -> None:
        if stage != self._stage:
            return
        if self._once is not None:
            if self._once.exists():
                return
            self._once.touch()
        if self._fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self._fault == "sleep":
            time.sleep(3600)
        else:
            raise ValueError(f"lane {self.lane} went wrong on purpose")

    def _obs(self) -> Any:
        return np.array([self.lane, self.count], np.uint8)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.count = 0
        self._fail("reset")
        return self._obs(), {"lane": self.lane, "seed": -1 if seed is None else seed}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._fail("step")
        self.count += 1
        return self._obs(), float(self.lane), False, False, {"lane": self.lane}


@dataclass(frozen=True)
class FaultMaker:
    """Makes a `FaultEnv` in a worker."""

    lane: int
    stage: str = ""
    fault: str = ""
    once: Path | None = None

    def __call__(self) -> FaultEnv:
        return FaultEnv(self.lane, self.stage, self.fault, self.once)
