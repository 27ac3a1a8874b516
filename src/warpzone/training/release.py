"""When rewards take over from the teacher of a level."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from warpzone.config import DistillOptions

_log = logging.getLogger(__name__)


class Release:
    """Decides for each level whether the network learns from its teacher or from rewards.

    Kickstarting (Schmitt et al., 2018), level by level: a teacher is followed until the network
    plays nearly as well, or for a limited number of steps if it never does.
    """

    def __init__(self, levels: Sequence[str], taught: Collection[str], options: DistillOptions):
        """Starts with all teachers.

        Args:
            levels: Levels of the run.
            taught: Levels that have a teacher; others learn from rewards at once.
            options: When a level is released.
        """
        self._levels, self._options = tuple(levels), options
        self._taught = torch.tensor([level in taught for level in levels])
        self._steps = torch.zeros(len(levels), dtype=torch.int64)

    @property
    def is_possible(self) -> bool:
        """Whether rewards take over at all."""
        return self._options.release > 0

    @property
    def taught(self) -> Tensor:
        """Whether each level learns from its teacher, [levels]."""
        return self._taught

    def update(self, levels: Tensor, clear_rate: Callable[[str], float]) -> None:
        """Releases levels after a rollout.

        Args:
            levels: Number of the level of each step.
            clear_rate: Returns the recent clear rate of a level.
        """
        if not self.is_possible:
            return
        self._steps += torch.bincount(levels.flatten(), minlength=len(self._levels))
        for number in self._taught.nonzero().flatten().tolist():
            level, steps = self._levels[number], int(self._steps[number])
            rate = clear_rate(level)
            if rate >= self._options.release or steps >= self._options.release_steps:
                self._taught[number] = False
                _log.info(
                    "rewards take over on %s after %s steps, at a clear rate of %.0f %%",
                    level,
                    f"{steps:,}",
                    100 * rate,
                )

    def state_dict(self) -> dict[str, Any]:
        """Everything that an exact resume needs."""
        return {"taught": self._taught.clone(), "steps": self._steps.clone()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores what `state_dict` returned."""
        self._taught.copy_(state["taught"])
        self._steps.copy_(state["steps"])
