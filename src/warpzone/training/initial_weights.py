"""Weights of another policy that a new run starts with."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from warpzone.config import TrainConfig, train_options
from warpzone.config.values import show
from warpzone.envs.actions import describe_buttons, resolve_actions
from warpzone.errors import ConfigError
from warpzone.evaluation.trained import TrainedPolicy, load_policy
from warpzone.runs.levels import trained_levels
from warpzone.training.encoder_versions import with_encoder_of

# Logit of an action that the policy did not have, relative to the smallest bias.
_NEW_ACTION = -1.0
_NETWORK = ("encoder", "hidden", "heads", "memory", "memory_size", "memory_window")


def initial_weights(config: TrainConfig) -> dict[str, Tensor] | None:
    """Returns the weights of the policy that `run.init_from` names; None if it names none.

    The run may have more actions than the policy; they start improbable. Its encoder may be a later
    version, whose additional inputs have no effect at first. The logits are divided by
    `run.init_temperature`.

    Raises:
        ConfigError: It belongs to another network or observation, or has an action that the run
            lacks.
        CheckpointError: There is no policy, or it is damaged.
    """
    if not config.run.init_from:
        return None
    levels = trained_levels(config.env)
    policy = load_policy(Path(config.run.init_from), levels[0] if len(levels) == 1 else None)
    check_observations(policy, config, "run.init_from")
    policy = with_encoder_of(policy, config)
    for name in _NETWORK:
        theirs, ours = getattr(policy.config.model, name), getattr(config.model, name)
        if theirs != ours:
            raise ConfigError(
                f"run.init_from {policy.path.name} has model.{name} {show(theirs)}, but this run "
                f"has {show(ours)}; give {_flag(name)} {theirs}"
            )
    theirs, ours = (resolve_actions(one.env.actions) for one in (policy.config, config))
    missing = [describe_buttons(byte) for byte in theirs if byte not in ours]
    if missing:
        raise ConfigError(
            f"run.init_from {policy.path.name} presses {', '.join(missing)}, which env.actions "
            f"{config.env.actions!r} lacks; give --actions that have them"
        )
    places = torch.tensor([ours.index(byte) for byte in theirs])
    weights = dict(policy.model.state_dict())
    learned = dict(policy.model.named_parameters())
    for name in [name for name in weights if name.startswith("policy.")]:
        weights[name] = _widened(name, weights[name], places, len(ours))
        if name in learned:  # Not the noise of a noisy layer.
            weights[name] = weights[name] / config.run.init_temperature
    return weights


def _flag(name: str) -> str:
    """The flag of an option of the network."""
    return next(f"--{found.flag}" for found in train_options() if found.path == f"model.{name}")


def _widened(name: str, tensor: Tensor, places: Tensor, actions: int) -> Tensor:
    """Returns a parameter of the policy head with rows for more actions."""
    if len(tensor) != len(places):  # Of a noisy layer: noise per input.
        return tensor
    new = float(tensor.min()) + _NEW_ACTION if name == "policy.bias" else 0.0
    wide = torch.full((actions, *tensor.shape[1:]), new, dtype=tensor.dtype)
    return wide.index_copy_(0, places, tensor)


def check_observations(policy: TrainedPolicy, config: TrainConfig, what: str) -> None:
    """Checks that a policy sees what the environments of a run show.

    Args:
        policy: The policy.
        config: Configuration of the run.
        what: What the policy is for, for the message.

    Raises:
        ConfigError: An option of the observation differs.
    """
    theirs, ours = policy.env_options(), config.env.policy_env_options()
    for name in ours.keys() - {"actions", "rom"}:
        if theirs.get(name) != ours[name]:
            raise ConfigError(
                f"{what} {policy.path.name} was trained with env.{name} {theirs.get(name)!r}, "
                f"but this run has {ours[name]!r}"
            )
