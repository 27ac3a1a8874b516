"""Policies that need no training, and what every policy offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from warpzone.envs.actions import describe_buttons, resolve_actions
from warpzone.envs.button_script import parse_script
from warpzone.envs.console import Console
from warpzone.errors import ConfigError
from warpzone.evaluation.scripted import ScriptedPolicy


class Policy(Protocol):
    """Chooses actions in one environment."""

    @property
    def actions(self) -> Sequence[str]:
        """The button combinations it chooses from: the `actions` of its environment."""

    def reset(self) -> None:
        """Begins an episode."""

    def act(self, obs: Any, info: dict[str, Any], console: Console) -> int:
        """Returns the index of an action."""


def add_batch_dimension(obs: Any) -> Any:
    """The observation of one environment as a batch of one."""
    return {name: part[None] for name, part in obs.items()} if isinstance(obs, dict) else obs[None]


class RandomPolicy:
    """Samples actions uniformly."""

    def __init__(self, actions: str = "simple", seed: int = 0) -> None:
        """Takes the actions of a named set."""
        self.actions = [describe_buttons(byte) for byte in resolve_actions(actions)]
        self._random = np.random.default_rng(seed)

    def reset(self) -> None:
        """Begins an episode; the random stream continues."""

    def act(self, obs: Any, info: dict[str, Any], console: Console) -> int:
        """Draws an action."""
        return int(self._random.integers(len(self.actions)))


class SequencePolicy:
    """Plays a list of button holds and keeps the last one pressed."""

    def __init__(self, text: str) -> None:
        """Parses a list such as "RIGHT+B:120,RIGHT+A+B:30": buttons and a number of steps.

        Raises:
            ConfigError: For a button that does not exist, or a number of steps below 1.
        """
        holds = parse_script(text, unit="steps")
        self.actions = [describe_buttons(hold.buttons) for hold in holds]
        self._lengths = [hold.length for hold in holds]
        self.reset()

    def reset(self) -> None:
        """Starts from the beginning of the list."""
        self._entry = 0
        self._done = 0

    def act(self, obs: Any, info: dict[str, Any], console: Console) -> int:
        """Returns the next entry."""
        if self._done == self._lengths[self._entry] and self._entry + 1 < len(self.actions):
            self._entry += 1
            self._done = 0
        self._done += 1
        return self._entry


def make_policy(name: str, *, actions: str = "simple", seed: int = 0) -> Policy:
    """Makes a policy by its name, or from a written list of buttons.

    Args:
        name: 'random', 'scripted', 'right', or a list for `SequencePolicy`.
        actions: The action set that 'random' samples from.
        seed: Random seed of 'random'.

    Raises:
        ConfigError: The name is neither.
    """
    if name == "random":
        return RandomPolicy(actions, seed)
    if name == "scripted":
        return ScriptedPolicy()
    if name == "right":
        return SequencePolicy("RIGHT+B")
    try:
        return SequencePolicy(name)
    except ConfigError as error:
        raise ConfigError(
            f"policy is {name!r}; it must be random, scripted, right, or buttons and steps such "
            f"as 'RIGHT+B:120,RIGHT+A+B:30' ({error})"
        ) from error
