"""Distillation in a run: which level each state belongs to, what is kept, and what is saved."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from warpzone.algorithms.distillation import Distillation
from warpzone.config import DistillOptions
from warpzone.errors import CheckpointError
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.sparse import ACTIVE
from warpzone.models.tree import Tree, map_tree
from warpzone.rollout.storage import RolloutStorage
from warpzone.telemetry.metrics import MetricRow
from warpzone.training.teachers import Teachers

_log = logging.getLogger(__name__)

LevelOf = Callable[[int], str]
"""The level of an environment's present episode."""


class DistillationLearning:
    """Labels the states of every rollout and teaches the network from the newest of them."""

    def __init__(
        self,
        teachers: Teachers,
        model: ActorCritic,
        options: DistillOptions,
        num_envs: int,
        *,
        minimize: Callable[[Tensor], float],
        autocast: Callable[[], AbstractContextManager[Any]],
        generator: torch.Generator,
    ) -> None:
        """Assembles the parts.

        Args:
            teachers: Label the states.
            model: The student.
            options: Of distillation.
            num_envs: Number of environments.
            minimize: Takes an optimizer step on a loss and returns the norm of the gradient.
            autocast: Makes the context in which the model runs forward.
            generator: Draws the samples.
        """
        self._teachers, self._save = teachers, options.save
        self._numbers = {level: number for number, level in enumerate(teachers.levels)}
        self._present = np.zeros(num_envs, np.int64)
        self._steps: list[NDArray[np.int64]] = []
        self._learning = Distillation(
            model, options, minimize=minimize, autocast=autocast, generator=generator
        )

    def begin(self, level_of: LevelOf) -> None:
        """Forgets steps that were observed and reads the levels that are being played."""
        self._steps.clear()
        for env in range(len(self._present)):
            self._present[env] = self._numbers[level_of(env)]

    def observe(self, ended: NDArray[np.bool_], level_of: LevelOf) -> None:
        """Notes the levels of a step, once the starts of new episodes are known.

        Args:
            ended: Where the step ended an episode.
            level_of: The levels of the episodes that are being played now.
        """
        self._steps.append(self._present.copy())
        for env in np.flatnonzero(ended).tolist():
            self._present[env] = self._numbers[level_of(env)]

    def push(self, storage: RolloutStorage) -> None:
        """Labels and keeps the states of a rollout whose steps were observed."""
        levels = np.stack(self._steps[: storage.steps]).ravel()
        del self._steps[: storage.steps]
        obs = map_tree(lambda part: part.flatten(0, 1), _needed(storage.all_obs()))
        self._learning.buffer.push(obs, self._teachers.label(obs, levels))

    def learn(self) -> MetricRow:
        """Learns from samples and returns metrics."""
        return dict(self._learning.learn())

    def state_dict(self) -> dict[str, Any]:
        """Everything that an exact resume needs."""
        return {
            "teachers": dict(self._teachers.hashes),
            "present": torch.from_numpy(self._present.copy()),
            "steps": torch.from_numpy(np.array(self._steps, np.int64)),
            "buffer": self._learning.buffer.state_dict() if self._save else {},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores what `state_dict` returned.

        Raises:
            CheckpointError: The teachers are not those that the run was started with.
        """
        changed = [
            level
            for level, sha256 in state["teachers"].items()
            if self._teachers.hashes.get(level) != sha256
        ]
        if changed:
            raise CheckpointError(
                f"the teachers of {', '.join(changed)} are not the files that this run was started "
                "with; restore them, or start a new run"
            )
        self._present[:] = state["present"].numpy()
        self._steps = list(state["steps"].numpy())
        if state["buffer"]:
            self._learning.buffer.load_state_dict(state["buffer"])
        else:
            _log.warning(
                "the checkpoint holds no states to distill from (--no-distill-save), so the buffer "
                "begins empty: this run does not resume exactly where it left off"
            )


def _needed(obs: Tree) -> Tree:
    """What teachers and student read: lists of active inputs where there are some."""
    return {ACTIVE: obs[ACTIVE]} if ACTIVE in obs else dict(obs)
