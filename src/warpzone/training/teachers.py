"""Teachers of a distillation: trained policies by level."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from warpzone import _native
from warpzone.config import TrainConfig
from warpzone.envs.actions import describe_buttons, resolve_actions
from warpzone.errors import ConfigError
from warpzone.evaluation.policy_file import SUFFIX, read_policy_facts
from warpzone.evaluation.policy_folder import find_policies, policies_by_level
from warpzone.evaluation.trained import TrainedPolicy, load_policy
from warpzone.models.sparse import store_by_input
from warpzone.models.tile_encoder import TileEncoder
from warpzone.models.tree import Tree
from warpzone.runs.checkpoint import sha256_of
from warpzone.runs.levels import trained_levels
from warpzone.training.encoder_versions import LATEST, with_encoder_of
from warpzone.training.initial_weights import check_observations

_log = logging.getLogger(__name__)


def with_taught_levels(config: TrainConfig) -> TrainConfig:
    """The configuration restricted to levels that something teaches: a teacher, or rewards.

    Raises:
        ConfigError: There are no teachers where the configuration says so, or none of its levels
            has one.
    """
    if not config.distill.teachers or config.distill.release > 0:
        return config
    taught = _teacher_paths(config)
    wanted = trained_levels(config.env)
    levels = [level for level in wanted if level in taught]
    if not levels:
        raise ConfigError(
            f"distill.teachers is {config.distill.teachers!r}, which has no policy for "
            f"{', '.join(wanted)}"
        )
    left_out = [level for level in wanted if level not in taught]
    if not left_out:
        return config
    _log.warning("no teacher for %s: these levels are left out", ", ".join(left_out))
    return replace(config, env=replace(config.env, level=",".join(levels)))


def _teacher_paths(config: TrainConfig) -> dict[str, Path]:
    path = Path(config.distill.teachers)
    if path.suffix == SUFFIX:
        return dict.fromkeys(read_policy_facts(path).levels, path)
    if not path.is_dir() or not find_policies(path):
        raise ConfigError(
            f"distill.teachers is {config.distill.teachers!r}, which is neither a policy file nor "
            "a folder of policy files; `warpzone export` writes them"
        )
    return policies_by_level(path)


@dataclass(frozen=True)
class _Teacher:
    """A policy, and where its actions are among the student's."""

    policy: TrainedPolicy
    actions: Tensor

    def probabilities(self, obs: Tree, count: int) -> Tensor:
        """Its action probabilities at evaluation temperature, [B, count]."""
        temperature = self.policy.config.model.eval_temperature
        own = torch.softmax(self.policy.model(obs).logits / temperature, -1)
        return torch.zeros(len(own), count).index_copy_(1, self.actions, own)


class Teachers:
    """Labels states with what the policy of their level would do.

    Attributes:
        levels: Levels in the order of their numbers.
        taught: Levels that have a teacher.
    """

    def __init__(self, config: TrainConfig, kernel: _native.SparseLinear | None) -> None:
        """Loads the policies of the run's levels.

        Args:
            config: The configuration of the student.
            kernel: Computes with lists of active inputs; None where observations are dense.

        Raises:
            ConfigError: A teacher needs other observations or actions than the student has.
        """
        self.levels = trained_levels(config.env)
        paths = _teacher_paths(config)
        needed = {paths[level] for level in self.levels if level in paths}
        loaded = {path: with_encoder_of(load_policy(path), config) for path in sorted(needed)}
        buttons = resolve_actions(config.env.actions)
        self._count = len(buttons)
        teachers = {
            path: _make_teacher(policy, config, buttons, kernel) for path, policy in loaded.items()
        }
        self.taught = [level for level in self.levels if level in paths]
        self._by_level = {
            number: teachers[paths[level]]
            for number, level in enumerate(self.levels)
            if level in paths
        }
        self.hashes = {level: sha256_of(paths[level]) for level in self.taught}

    @torch.no_grad()
    def label(self, obs: Tree, levels: NDArray[np.int64]) -> Tensor:
        """Targets of states, [B, actions]; a teacher sees only the states of its own levels.

        Args:
            obs: Observations by name, [B, ...].
            levels: Numbers of the levels, [B].
        """
        targets = torch.zeros(len(levels), self._count)
        for number in np.unique(levels):
            rows = torch.from_numpy(np.flatnonzero(levels == number))
            chosen = {name: part.index_select(0, rows) for name, part in obs.items()}
            targets[rows] = self._by_level[int(number)].probabilities(chosen, self._count)
        return targets


def _make_teacher(
    policy: TrainedPolicy,
    config: TrainConfig,
    buttons: Sequence[int],
    kernel: _native.SparseLinear | None,
) -> _Teacher:
    check_observations(policy, config, "the teacher")
    _check_memory(policy)
    _check_encoder(policy, config)
    own = resolve_actions(policy.config.env.actions)
    missing = [describe_buttons(byte) for byte in own if byte not in buttons]
    if missing:
        raise ConfigError(
            f"the teacher {policy.path.name} presses {', '.join(missing)}, which env.actions "
            f"{config.env.actions!r} lacks; give --actions that have them"
        )
    encoder = policy.model.encoder
    if kernel is not None:
        assert isinstance(encoder, TileEncoder)
        store_by_input(encoder.first)
        encoder.read_lists_with(kernel)
    return _Teacher(policy, torch.tensor([buttons.index(byte) for byte in own]))


def _check_encoder(policy: TrainedPolicy, config: TrainConfig) -> None:
    """Refuses a teacher with inputs that the student lacks; the opposite is converted."""
    theirs, ours = policy.config.model.encoder, config.model.encoder
    if theirs == LATEST and ours != LATEST:
        raise ConfigError(
            f"the teacher {policy.path.name} has model.encoder {theirs!r}, but this run has "
            f"{ours!r}; give --encoder {theirs}"
        )


def _check_memory(policy: TrainedPolicy) -> None:
    if policy.model.memory.state_size:
        raise ConfigError(
            f"the teacher {policy.path.name} has recurrent memory; teachers must act on single "
            "observations"
        )
