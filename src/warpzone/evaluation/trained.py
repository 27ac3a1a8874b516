"""A trained policy from a run: ready to choose actions."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from warpzone.config import TrainConfig
from warpzone.envs.vector import MarioVectorEnv
from warpzone.envs.wrapping import wrapped
from warpzone.errors import CheckpointError, ConfigError
from warpzone.evaluation.choosing import Chooser
from warpzone.evaluation.native_network import NativeNetwork, has_native_copy
from warpzone.evaluation.policy_file import SUFFIX, read_policy_file
from warpzone.evaluation.policy_folder import choose_policy, is_policy_folder
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.build import make_model, place_model
from warpzone.models.tree import as_tree
from warpzone.models.weights import check_weights, load_weights
from warpzone.registry import NO_WRAPPER, Wrap, wrappers
from warpzone.runs import checkpoint
from warpzone.runs.checkpoint_store import find_best, find_latest
from warpzone.runs.directory import run_of
from warpzone.runs.saved_config import saved_config

_BUILT_AT_ONCE = 2048
"""Layers up to this width are small enough to be built before their weights are compared."""


@dataclass(frozen=True)
class TrainedPolicy:
    """A network with what it was trained for."""

    model: ActorCritic
    config: TrainConfig
    path: Path

    def player(
        self, num_envs: int, seed: int, greedy: bool, eval_temperature: float | None = None
    ) -> Player:
        """Chooses actions in some environments, by default at the configured temperature."""
        temperature = eval_temperature or self.config.model.eval_temperature
        return Player(self.chooser, num_envs, seed, greedy, temperature)

    @cached_property
    def chooser(self) -> Chooser:
        """Chooses actions, with a native copy of the network where there is one."""
        if self.config.env.wrap != NO_WRAPPER or not has_native_copy(self.model):
            return Chooser(self.model)
        return Chooser(self.model, NativeNetwork(self.model, policy_spaces(self.config)[0]))

    def env_options(self) -> dict[str, Any]:
        """Keywords of an environment for this policy."""
        return self.config.env.policy_env_options()

    @property
    def wrap(self) -> Wrap | None:
        """Puts the wrappers that it was trained in around a vector environment; None without."""
        return wrap_of(self.config)


class Player:
    """Chooses actions, and keeps the network's recurrent state.

    Attributes:
        values: The critic's values of the last observations.
    """

    def __init__(
        self,
        chooser: Chooser,
        num_envs: int,
        seed: int,
        greedy: bool,
        eval_temperature: float = 1.0,
    ):
        """Begins new episodes.

        Args:
            chooser: Chooses the actions of a network.
            num_envs: Number of environments.
            seed: Of the sampled actions.
            greedy: Always take the most likely action.
            eval_temperature: Divides the logits before an action is sampled. Below 1 the policy
                acts closer to greedily than in training.
        """
        self._chooser, self._temperature = chooser, eval_temperature
        self._state = chooser.model.initial_state(num_envs)
        self._random = None if greedy else torch.Generator().manual_seed(seed)
        self.values: NDArray[np.float32] = np.zeros(num_envs, np.float32)

    def __call__(self, obs: Any, first: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Returns an action for every environment."""
        choice = self._chooser.choose(
            as_tree(obs), self._state, first, temperature=self._temperature, random=self._random
        )
        self._state, self.values = choice.state, choice.values
        return choice.actions


def load_policy(target: Path, level: str | None = None, rom: Path | None = None) -> TrainedPolicy:
    """Loads a policy.

    Args:
        target: A run, for its best checkpoint (the latest when none is marked); a checkpoint; a
            policy file; or a folder of those.
        level: Of a folder, the policy that is for this level.
        rom: ROM to play instead of the one that it was trained with.

    Raises:
        CheckpointError: When there is none, or it does not fit its configuration.
    """
    target = choose_policy(target, level) if is_policy_folder(target) else target
    if target.suffix == SUFFIX:
        file = read_policy_file(target)
        config = _with_rom(file.config, rom)
        return TrainedPolicy(make_network(config, file.weights), config, target)
    config = _with_rom(saved_config(target), rom)
    path = checkpoint_of(target)
    weights = averaged_weights(checkpoint.load(path))
    return TrainedPolicy(make_network(config, weights), config, path)


def averaged_weights(saved: checkpoint.Checkpoint) -> dict[str, torch.Tensor]:
    """The weights that a checkpoint plays with.

    Raises:
        CheckpointError: It holds something else.
    """
    average = saved.state.get("average")
    weights = average.get("weights") if isinstance(average, dict) else None
    if not isinstance(weights, dict) or not all(
        isinstance(name, str) and isinstance(tensor, torch.Tensor)
        for name, tensor in weights.items()
    ):
        raise CheckpointError(f"{saved.path} has no averaged weights of a network")
    return weights


def _with_rom(config: TrainConfig, rom: Path | None) -> TrainConfig:
    return config if rom is None else replace(config, env=replace(config.env, rom=str(rom)))


def checkpoint_of(target: Path) -> Path:
    """The checkpoint that is judged: the given one, or the best of a run, or else its latest.

    Raises:
        CheckpointError: When the run has none.
    """
    path = target if target.is_file() else find_best(target) or find_latest(target)
    if path is None:
        raise CheckpointError(f"{run_of(target).path} has no checkpoint yet")
    return path


def wrap_of(config: TrainConfig) -> Wrap | None:
    """The registered wrapper that a configuration names, if it names one.

    Raises:
        PluginError: It is not registered; the text names the plug-in.
    """
    name = config.env.wrap
    return None if name == NO_WRAPPER else wrappers.get(name, config.run.plugins)


def policy_spaces(config: TrainConfig) -> tuple[spaces.Space[Any], int]:
    """The space of one observation, and the number of actions.

    Raises:
        PluginError: The wrapper that the configuration names is not registered.
    """
    wrap, options = wrap_of(config), config.env.policy_env_options()
    with closing(MarioVectorEnv(num_threads=1, autoreset="disabled", **options)) as env:
        outer = env if wrap is None else wrapped(env, wrap)
        actions = outer.single_action_space
        if not isinstance(actions, spaces.Discrete):
            raise ConfigError(f"the wrapped action space is {actions}; it must stay Discrete")
        return outer.single_observation_space, int(actions.n)


def make_network(config: TrainConfig, weights: Mapping[str, torch.Tensor]) -> ActorCritic:
    """The network of a configuration with these weights, ready to play on the CPU.

    Raises:
        CheckpointError: They do not fit.
        PluginError: A plug-in that the configuration names is missing; the text says which.
    """
    space, actions = policy_spaces(config)
    build = partial(make_model, config.model, space, actions, config.run.plugins)
    model_options = config.model
    widths = (model_options.hidden, model_options.memory_size, model_options.memory_window)
    if max(widths) > _BUILT_AT_ONCE:
        # What a stranger's file claims may not fit into memory; its weights tell.
        try:
            with torch.device("meta"):
                check_weights(build(), weights)
        except RuntimeError as error:
            if isinstance(error, CheckpointError):
                raise
            raise CheckpointError(f"its network cannot be built ({error})") from error
    model = build()
    load_weights(model, dict(weights))
    return place_model(model, torch.device("cpu")).eval()
