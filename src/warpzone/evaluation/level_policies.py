"""Policies by level: a specialist for each level of the game, or one policy for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from warpzone.envs.actions import describe_buttons, resolve_actions
from warpzone.errors import ConfigError
from warpzone.evaluation.policy_folder import is_policy_folder, policies_by_level
from warpzone.evaluation.trained import TrainedPolicy, load_policy
from warpzone.models.tree import as_tree
from warpzone.runs.levels import trained_levels


@dataclass(frozen=True)
class LevelPolicies:
    """Chooses a policy by the level that is being played.

    Attributes:
        policies: Policies by level.
        fallback: Plays the levels that have no policy of their own.
    """

    policies: Mapping[str, TrainedPolicy]
    fallback: TrainedPolicy

    def of(self, level: str) -> TrainedPolicy:
        """The policy that plays a level."""
        return self.policies.get(level, self.fallback)

    @property
    def buttons(self) -> list[int]:
        """Every button combination of any policy, as controller bytes."""
        found = [byte for policy in self._distinct() for byte in _buttons(policy)]
        return list(dict.fromkeys(found))

    def env_options(self) -> dict[str, Any]:
        """Keywords of an environment for all the policies.

        Raises:
            ConfigError: Two policies need different observations.
        """
        first, *others = self._distinct()
        options = first.env_options()
        for other in others:
            for name, value in other.env_options().items():
                if name not in ("actions", "rom") and options.get(name) != value:
                    raise ConfigError(
                        f"{first.path.name} and {other.path.name} cannot play one game together: "
                        f"{name} is {options.get(name)!r} for one and {value!r} for the other"
                    )
        return options | {"actions": [describe_buttons(byte) for byte in self.buttons]}

    def player(
        self, num_envs: int, seed: int, greedy: bool, eval_temperature: float | None = None
    ) -> GamePlayer:
        """Chooses actions in some environments."""
        return GamePlayer(self, num_envs, seed, greedy, eval_temperature)

    def _distinct(self) -> list[TrainedPolicy]:
        found = {policy.path: policy for policy in (*self.policies.values(), self.fallback)}
        return list(found.values())


class GamePlayer:
    """Chooses actions with the policy of each environment's current level.

    Attributes:
        values: The critics' values of the last observations.
    """

    def __init__(
        self,
        policies: LevelPolicies,
        num_envs: int,
        seed: int,
        greedy: bool,
        eval_temperature: float | None = None,
    ) -> None:
        """Begins new games; arguments are those of `Player`."""
        self._policies, self._temperature = policies, eval_temperature
        self._random = None if greedy else torch.Generator().manual_seed(seed)
        self._numbers = {byte: number for number, byte in enumerate(policies.buttons)}
        self._states: dict[Path, torch.Tensor] = {}
        self._last: list[Path | None] = [None] * num_envs
        self.values: NDArray[np.float32] = np.zeros(num_envs, np.float32)

    def __call__(
        self, obs: Any, first: NDArray[np.bool_], info: dict[str, Any]
    ) -> NDArray[np.int64]:
        """Returns one action per environment."""
        actions = np.zeros(len(first), np.int64)
        groups: dict[Path, tuple[TrainedPolicy, list[int]]] = {}
        for index, level in enumerate(level_names(info)):
            policy = self._policies.of(level)
            groups.setdefault(policy.path, (policy, []))[1].append(index)
        for path in sorted(groups):
            policy, rows = groups[path]
            # A recurrent state of another policy, or of an earlier visit, means nothing here.
            begins = [first[row] or self._last[row] != path for row in rows]
            actions[rows] = self._act(policy, as_tree(obs), np.array(rows), np.array(begins))
            for row in rows:
                self._last[row] = path
        return actions

    def _act(
        self,
        policy: TrainedPolicy,
        obs: dict[str, Any],
        rows: NDArray[np.int64],
        begins: NDArray[np.bool_],
    ) -> NDArray[np.int64]:
        states = self._states.setdefault(policy.path, policy.model.initial_state(len(self.values)))
        choice = policy.chooser.choose(
            {name: part[rows] for name, part in obs.items()},
            states[rows],
            begins,
            temperature=self._temperature or policy.config.model.eval_temperature,
            random=self._random,
        )
        states[rows] = choice.state
        self.values[rows] = choice.values
        numbers = [self._numbers[byte] for byte in _buttons(policy)]
        chosen_buttons: NDArray[np.int64] = np.array(numbers)[choice.actions]
        return chosen_buttons


def level_names(info: dict[str, Any]) -> list[str]:
    """The level that each environment is in."""
    worlds, stages = np.atleast_1d(info["world"]), np.atleast_1d(info["stage"])
    return [f"{world}-{stage}" for world, stage in zip(worlds, stages, strict=True)]


def load_level_policies(target: Path, rom: Path | None = None) -> LevelPolicies:
    """Loads what plays a whole game.

    Args:
        target: A run, a checkpoint or a policy file, which plays every level; or a folder of policy
            files, of which each plays its own levels. The one with the most levels then plays
            those that no file was trained on.
        rom: Game image to play instead of the one that the policies were trained with.

    Raises:
        CheckpointError: There is no policy, or a file is damaged.
    """
    if not is_policy_folder(target):
        policy = load_policy(target, rom=rom)
        return LevelPolicies(dict.fromkeys(trained_levels(policy.config.env), policy), policy)
    paths = policies_by_level(target)
    loaded = {path: load_policy(path, rom=rom) for path in sorted(set(paths.values()))}
    levels = {path: sum(chosen == path for chosen in paths.values()) for path in loaded}
    most = max(levels, key=levels.__getitem__)
    return LevelPolicies({level: loaded[path] for level, path in paths.items()}, loaded[most])


def _buttons(policy: TrainedPolicy) -> list[int]:
    return resolve_actions(policy.config.env.actions)
