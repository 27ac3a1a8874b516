"""Weights of another policy that a new run starts with."""

from __future__ import annotations

from pathlib import Path

from warpzone.config import TrainConfig
from warpzone.config.values import show
from warpzone.envs.actions import resolve_actions
from warpzone.errors import ConfigError
from warpzone.evaluation.trained import TrainedPolicy, load_policy
from warpzone.runs.levels import trained_levels

_NETWORK = ("encoder", "hidden", "heads", "memory", "memory_size", "memory_window")


def initial_policy(config: TrainConfig) -> TrainedPolicy | None:
    """Returns the policy that `run.init_from` names; None if it names none.

    Raises:
        ConfigError: It belongs to another network, observation or set of actions.
        CheckpointError: There is no policy, or it is damaged.
    """
    if not config.run.init_from:
        return None
    levels = trained_levels(config.env)
    policy = load_policy(Path(config.run.init_from), levels[0] if len(levels) == 1 else None)
    check_observations(policy, config, "run.init_from")
    if resolve_actions(policy.config.env.actions) != resolve_actions(config.env.actions):
        raise ConfigError(
            f"run.init_from {policy.path.name} has env.actions {policy.config.env.actions!r}, but "
            f"this run has {config.env.actions!r}"
        )
    for name in _NETWORK:
        theirs, ours = getattr(policy.config.model, name), getattr(config.model, name)
        if theirs != ours:
            raise ConfigError(
                f"run.init_from {policy.path.name} has model.{name} {show(theirs)}, but this run "
                f"has {show(ours)}"
            )
    return policy


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
