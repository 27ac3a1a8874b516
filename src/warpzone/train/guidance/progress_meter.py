"""How far the lanes moved during a rollout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.rollout.collector import Info
from warpzone.telemetry.metrics import MetricRow

_NEW = -1  # An episode that has shown no progress yet.


@dataclass(frozen=True)
class Seen:
    """What a rollout showed.

    Attributes:
        forward_share: Lanes whose progress rose.
        pixels_per_lane: Progress, mean over the lanes.
        pixels_per_step: Progress by steps.
        stagnation: Frames without progress at the end, mean over the lanes.
    """

    forward_share: float
    pixels_per_lane: float
    pixels_per_step: float
    stagnation: float

    def metrics(self) -> MetricRow:
        """The same by the names of the metrics."""
        return {
            "rollout/forward_share": self.forward_share,
            "rollout/progress_per_step": self.pixels_per_step,
            "rollout/stagnation_mean": self.stagnation,
        }


class ProgressMeter:
    """Adds up what every step reports."""

    def __init__(self, lanes: int):
        """Begins a rollout."""
        self._last = np.full(lanes, _NEW, np.int64)
        self._gained = np.zeros(lanes, np.int64)
        self._stagnation = np.zeros(lanes, np.int64)
        self._steps = 0

    def observe(self, info: Info, ended: NDArray[np.bool_]) -> None:
        """Takes the info of a step."""
        progress = np.asarray(info["progress"], np.int64)
        # An episode that begins at a snapshot may begin with progress, which nobody has made now.
        self._gained += np.where(self._last == _NEW, 0, progress - self._last)
        self._last = np.where(ended, _NEW, progress)
        self._stagnation = np.where(ended, 0, info["stagnation"])
        self._steps += 1

    def take(self) -> Seen:
        """Returns what was seen since the last call."""
        lanes = len(self._gained)
        seen = Seen(
            forward_share=float((self._gained > 0).mean()),
            pixels_per_lane=float(self._gained.mean()),
            pixels_per_step=float(self._gained.sum() / max(1, self._steps * lanes)),
            stagnation=float(self._stagnation.mean()),
        )
        self._gained = np.zeros(lanes, np.int64)
        self._steps = 0
        return seen

    def state_dict(self) -> dict[str, Any]:
        """What was seen of the present rollout, and where the lanes stand."""
        return {
            "last": self._last.tolist(),
            "gained": self._gained.tolist(),
            "stagnation": self._stagnation.tolist(),
            "steps": self._steps,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Takes what `state_dict` gave."""
        self._last = np.asarray(state["last"], np.int64)
        self._gained = np.asarray(state["gained"], np.int64)
        self._stagnation = np.asarray(state["stagnation"], np.int64)
        self._steps = state["steps"]
