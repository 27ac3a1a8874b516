"""Rescue: detects that a policy makes no progress, and decides when to intervene."""

from __future__ import annotations

from typing import Any, Literal

from warpzone.config import RescueOptions

Reason = Literal["stuck", "plateau"]


# Mean distance per environment and rollout below which the policy counts as stuck.
STUCK_PIXELS = 16.0


class Rescue:
    """Monitors the progress of rollouts."""

    def __init__(self, options: RescueOptions):
        """Creates the monitor."""
        self._options = options
        self.count = 0
        """Number of rescues so far."""
        self._without_distance = 0
        self._without_best = 0
        self._best = 0.0
        self._rest = 0

    def look(self, pixels: float, best: float, clearing: bool) -> Reason | None:
        """Decides after an update whether to intervene now.

        Args:
            pixels: Progress of the rollout, mean over its environments.
            best: Largest progress of any episode so far.
            clearing: Whether some episodes clear the level, so that the best cannot improve.
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
        """Returns the state that an exact resume needs."""
        return {
            "count": self.count,
            "without_distance": self._without_distance,
            "without_best": self._without_best,
            "best": self._best,
            "rest": self._rest,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self.count = state["count"]
        self._without_distance = state["without_distance"]
        self._without_best = state["without_best"]
        self._best = state["best"]
        self._rest = state["rest"]
