"""Measures the progress of the environments during a rollout."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.algorithms.ranks import Ranks
from warpzone.rollout.rollout_env import Info
from warpzone.telemetry.metrics import MetricRow

_UNKNOWN = -1  # Progress of an episode that has just begun.


@dataclass(frozen=True)
class RolloutProgress:
    """Progress of a rollout.

    Attributes:
        forward_share: Fraction of the environments that made progress.
        pixels_per_env: Progress in pixels, mean over the environments.
        pixels_per_step: Progress per step, in pixels.
        stagnation: Frames since the last progress at the end, mean over the environments.
    """

    forward_share: float
    pixels_per_env: float
    pixels_per_step: float
    stagnation: float

    def averaged(self, ranks: Ranks) -> RolloutProgress:
        """Returns the mean progress of all ranks."""
        return RolloutProgress(*(ranks.mean(value) for value in astuple(self)))

    def metrics(self) -> MetricRow:
        """Returns the progress as metrics."""
        return {
            "rollout/forward_share": self.forward_share,
            "rollout/progress_per_step": self.pixels_per_step,
            "rollout/stagnation_mean": self.stagnation,
        }


class ProgressMeter:
    """Sums the progress of every step."""

    def __init__(self, num_envs: int):
        """Starts a rollout."""
        self._last = np.full(num_envs, _UNKNOWN, np.int64)
        self._gained = np.zeros(num_envs, np.int64)
        self._stagnation = np.zeros(num_envs, np.int64)
        self._steps = 0

    def observe(self, info: Info, ended: NDArray[np.bool_]) -> None:
        """Adds the info of a step."""
        progress = np.asarray(info["progress"], np.int64)
        # An episode that starts at a snapshot may start with progress from before.
        self._gained += np.where(self._last == _UNKNOWN, 0, progress - self._last)
        self._last = np.where(ended, _UNKNOWN, progress)
        self._stagnation = np.where(ended, 0, info["stagnation"])
        self._steps += 1

    def take(self) -> RolloutProgress:
        """Returns the progress since the last call."""
        num_envs = len(self._gained)
        progress = RolloutProgress(
            forward_share=float((self._gained > 0).mean()),
            pixels_per_env=float(self._gained.mean()),
            pixels_per_step=float(self._gained.sum() / max(1, self._steps * num_envs)),
            stagnation=float(self._stagnation.mean()),
        )
        self._gained = np.zeros(num_envs, np.int64)
        self._steps = 0
        return progress

    def state_dict(self) -> dict[str, Any]:
        """Returns the progress of the current rollout and of the current episodes."""
        return {
            "last": self._last.tolist(),
            "gained": self._gained.tolist(),
            "stagnation": self._stagnation.tolist(),
            "steps": self._steps,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self._last = np.asarray(state["last"], np.int64)
        self._gained = np.asarray(state["gained"], np.int64)
        self._stagnation = np.asarray(state["stagnation"], np.int64)
        self._steps = state["steps"]
