"""Action override: temporarily replaces the policy's actions.

The collector marks overridden steps, and the learner excludes them from its losses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class ActionOverride:
    """Replaces the actions of environments that follow a plan."""

    def __init__(self, num_envs: int, script: Sequence[int] = (), episodes: int = 0):
        """Creates an override.

        Args:
            num_envs: Number of environments.
            script: Actions at the start of an episode, one per step.
            episodes: Number of episodes per environment that begin with the script.
        """
        self._script = list(script)
        self._episodes = episodes
        self._begun = np.zeros(num_envs, np.int64)
        self._left: dict[int, list[int]] = {}

    def follow(self, plan: Sequence[int], envs: Sequence[int], offset: int = 0) -> None:
        """Makes environments follow a plan to its end, from the next step on, across episodes.

        Args:
            plan: Actions, one per step.
            envs: Indices of the environments.
            offset: Each environment starts this many steps later in the plan than the previous one
                and plays the skipped part at the end, so that they do not all fail at one place.
        """
        for position, env in enumerate(envs):
            at = position * offset % len(plan)
            self._left[env] = [*plan[at:], *plan[:at]]

    @property
    def active(self) -> int:
        """Number of environments that currently follow a plan."""
        return len(self._left)

    def apply(self, actions: NDArray[np.int64], first: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Replaces the actions of environments that follow a plan.

        Args:
            actions: Actions of the policy; modified in place.
            first: Whether an environment's episode begins with this step.

        Returns:
            A mask of the replaced actions.
        """
        if self._script:
            for env in np.flatnonzero(first & (self._begun < self._episodes)).tolist():
                self._left.setdefault(env, list(self._script))
            self._begun += first
        overridden = np.zeros(len(actions), np.bool_)
        for env in list(self._left):
            plan = self._left[env]
            actions[env] = plan.pop(0)
            overridden[env] = True
            if not plan:
                del self._left[env]
        return overridden

    @property
    def has_script(self) -> bool:
        """Whether episodes begin with a script: what is replaced then depends on how they end."""
        return bool(self._script) and self._episodes > 0

    def take(self, steps: int) -> NDArray[np.int16]:
        """Takes the actions of the next steps out of the plans; for overrides without a script.

        Returns:
            One action per step and environment, [steps, num_envs]; negative where the policy
            chooses.
        """
        actions = np.full((steps, len(self._begun)), -1, np.int16)
        for env, plan in list(self._left.items()):
            taken, left = plan[:steps], plan[steps:]
            actions[: len(taken), env] = taken
            if left:
                self._left[env] = left
            else:
                del self._left[env]
        return actions

    def state_dict(self) -> dict[str, Any]:
        """Returns the remainder of every plan."""
        return {"begun": self._begun.tolist(), "left": dict(self._left)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self._begun = np.asarray(state["begun"], np.int64)
        self._left = {int(env): list(plan) for env, plan in state["left"].items()}
