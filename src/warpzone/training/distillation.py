"""Distillation in a run: which states are labeled and kept, and what is saved."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor

from warpzone.algorithms.distillation import Distillation
from warpzone.config import DistillOptions
from warpzone.errors import CheckpointError
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.sparse import ACTIVE
from warpzone.models.tree import Tree, map_tree
from warpzone.rollout.storage import RolloutStorage
from warpzone.telemetry.metrics import MetricRow
from warpzone.training.release import Release
from warpzone.training.teachers import Teachers

_log = logging.getLogger(__name__)


class DistillationLearning:
    """Labels the states of every rollout and teaches the network from the newest of them."""

    def __init__(
        self,
        teachers: Teachers,
        model: ActorCritic,
        options: DistillOptions,
        *,
        minimize: Callable[[Tensor, float], float],
        autocast: Callable[[], AbstractContextManager[Any]],
        generator: torch.Generator,
    ) -> None:
        """Assembles the parts.

        Args:
            teachers: Label the states.
            model: The student.
            options: Of distillation.
            minimize: Takes an optimizer step on a loss, with gradients clipped to a norm, and
                returns the norm that they had.
            autocast: Makes the context in which the model runs forward.
            generator: Draws the samples.
        """
        self._teachers, self._save = teachers, options.save
        self.release = Release(teachers.levels, teachers.taught, options)
        self._learning = Distillation(
            model, options, minimize=minimize, autocast=autocast, generator=generator
        )

    def push(self, storage: RolloutStorage, clear_rate: Callable[[str], float]) -> None:
        """Labels and keeps the states of a rollout, and releases levels.

        Args:
            storage: A rollout, with the levels of its steps.
            clear_rate: Returns the recent clear rate of a level.
        """
        self.release.update(storage.levels, clear_rate)
        levels = storage.levels.flatten()
        rows = self.release.taught[levels].nonzero().flatten()
        if not len(rows):
            return
        obs = map_tree(
            lambda part: part.flatten(0, 1).index_select(0, rows), _needed(storage.all_obs())
        )
        targets = self._teachers.label(obs, levels[rows].numpy())
        self._learning.buffer.push(obs, targets, levels[rows])

    def learn(self) -> MetricRow:
        """Learns from samples and returns metrics; nothing is learned once rewards took over."""
        taught = self.release.taught
        row: MetricRow = {"distill/taught_levels": int(taught.sum())}
        return row | self._learning.learn(taught) if taught.any() else row

    @property
    def reward_weights(self) -> Tensor | None:
        """Weight of rewards on each level, [levels]; None if only teachers count."""
        return (~self.release.taught).float() if self.release.is_possible else None

    def state_dict(self) -> dict[str, Any]:
        """Everything that an exact resume needs."""
        return {
            "teachers": dict(self._teachers.hashes),
            "release": self.release.state_dict(),
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
        self.release.load_state_dict(state["release"])
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
