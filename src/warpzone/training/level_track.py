"""Which level every step of a rollout plays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from warpzone.rollout.storage import RolloutStorage

LevelOf = Callable[[int], str]
"""The level of an environment's present episode."""


class LevelTrack:
    """Observes steps and notes their levels, as numbers in the order of the run's levels."""

    def __init__(self, levels: Sequence[str], num_envs: int, level_of: LevelOf):
        """Creates the track; call `begin` before the first step.

        Args:
            levels: Levels of the run.
            num_envs: Number of environments.
            level_of: Returns the level of an environment's present episode.
        """
        self.levels = tuple(levels)
        self._numbers = {level: number for number, level in enumerate(levels)}
        self._level_of = level_of
        self._present = np.zeros(num_envs, np.int64)
        self._steps: list[NDArray[np.int64]] = []

    def begin(self) -> None:
        """Forgets steps that were observed and reads the levels that are being played."""
        self._steps.clear()
        for env in range(len(self._present)):
            self._read(env)

    def observe(self, ended: NDArray[np.bool_]) -> None:
        """Notes the levels of a step, once the starts of new episodes are known.

        Args:
            ended: Where the step ended an episode.
        """
        self._steps.append(self._present.copy())
        for env in np.flatnonzero(ended).tolist():
            self._read(env)

    def _read(self, env: int) -> None:
        # Whole games and levels reached through warp zones are not among the run's levels.
        self._present[env] = self._numbers.get(self._level_of(env), 0)

    def write(self, storage: RolloutStorage) -> None:
        """Writes the levels of a rollout whose steps were observed."""
        levels = np.stack(self._steps[: storage.steps])
        del self._steps[: storage.steps]
        storage.levels.copy_(torch.from_numpy(levels))

    def state_dict(self) -> dict[str, Any]:
        """Everything that an exact resume needs."""
        return {
            "present": torch.from_numpy(self._present.copy()),
            "steps": torch.from_numpy(np.array(self._steps, np.int64)),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores what `state_dict` returned."""
        self._present[:] = state["present"].numpy()
        self._steps = list(state["steps"].numpy())
