"""The pilot: takes the controls of lanes for a while, at starts of episodes or when asked to.

What it does is not the policy's doing: the collector records such steps as forced, and the learner
leaves them out of its losses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class ActionOverride:
    """Overrides the actions of lanes that follow a plan."""

    def __init__(self, lanes: int, script: Sequence[int] = (), episodes: int = 0):
        """Makes a pilot.

        Args:
            lanes: How many there are.
            script: Actions that an episode begins with, one a step.
            episodes: The first so many episodes of each lane begin with them.
        """
        self._script = list(script)
        self._episodes = episodes
        self._begun = np.zeros(lanes, np.int64)
        self._left: dict[int, list[int]] = {}

    def force(self, plan: Sequence[int], lanes: Sequence[int], offset: int = 0) -> None:
        """Lets lanes follow a plan from the next step on, across episodes, until it is done.

        Args:
            plan: Actions, one a step.
            lanes: Which ones.
            offset: Each lane begins so many steps later in the plan than the one before, and ends
                with what was left out: not all of them meet the same trouble.
        """
        for position, lane in enumerate(lanes):
            at = position * offset % len(plan)
            self._left[lane] = [*plan[at:], *plan[:at]]

    @property
    def forcing(self) -> int:
        """Lanes that follow a plan now."""
        return len(self._left)

    def apply(self, actions: NDArray[np.int64], first: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Replaces the actions of lanes that follow a plan.

        Args:
            actions: What the policy chose; changed in place.
            first: Lanes whose episode begins with this step.

        Returns:
            Which lanes were forced.
        """
        if self._script:
            for lane in np.flatnonzero(first & (self._begun < self._episodes)).tolist():
                self._left.setdefault(lane, list(self._script))
            self._begun += first
        forced = np.zeros(len(actions), np.bool_)
        for lane in list(self._left):
            plan = self._left[lane]
            actions[lane] = plan.pop(0)
            forced[lane] = True
            if not plan:
                del self._left[lane]
        return forced

    def state_dict(self) -> dict[str, Any]:
        """What is left of every plan."""
        return {"begun": self._begun.tolist(), "left": dict(self._left)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Takes what `state_dict` gave."""
        self._begun = np.asarray(state["begun"], np.int64)
        self._left = {int(lane): list(plan) for lane, plan in state["left"].items()}
