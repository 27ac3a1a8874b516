"""Rescue: notices that a policy makes no progress, and decides when to help."""

from __future__ import annotations

from typing import Any, Literal

from warpzone.config import RescueOptions

Reason = Literal["stuck", "plateau"]


# Distance per environment and rollout, on average, that still counts as none.
STUCK_PIXELS = 16.0


class Rescue:
    """Watches the progress of rollouts."""

    def __init__(self, options: RescueOptions):
        """Begins with no updates seen."""
        self._options = options
        self.count = 0
        """Rescues so far."""
        self._without_distance = 0
        self._without_best = 0
        self._best = 0.0
        self._rest = 0

    def look(self, pixels: float, best: float, clearing: bool) -> Reason | None:
        """Takes the metrics of an update and decides whether to help now.

        Args:
            pixels: Progress of the rollout, mean over its environments.
            best: Most progress of any episode so far.
            clearing: Whether some episodes clear the level: then the best cannot rise.
        """
        options = self._options
        stuck = pixels <= STUCK_PIXELS
        self._without_distance = self._without_distance + 1 if stuck else 0
        better = best > self._best or clearing
        self._without_best = 0 if better else self._without_best + 1
        self._best = max(self._best, best)
        if self._rest > 0:
            self._rest -= 1
            return None
        if options.after and self._without_distance >= options.after:
            return self._help("stuck")
        if options.plateau and self._without_best >= options.plateau:
            return self._help("plateau")
        return None

    def _help(self, reason: Reason) -> Reason:
        self.count += 1
        self._rest = self._options.cool_down
        self._without_distance = self._without_best = 0
        return reason

    def state_dict(self) -> dict[str, Any]:
        """Everything that an exact resume needs."""
        return {
            "count": self.count,
            "without_distance": self._without_distance,
            "without_best": self._without_best,
            "best": self._best,
            "rest": self._rest,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores what `state_dict` returned."""
        self.count = state["count"]
        self._without_distance = state["without_distance"]
        self._without_best = state["without_best"]
        self._best = state["best"]
        self._rest = state["rest"]
