"""Filming a trained policy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from warpzone.envs.actions import describe_buttons, resolve_actions
from warpzone.envs.console import Console
from warpzone.evaluate.trained import Player, TrainedPolicy, load_policy
from warpzone.runs.levels import named_levels, trained_levels
from warpzone.video.episode import Look, record_episode
from warpzone.video.recorded_env import RecordedEnv
from warpzone.video.writer import Frame, VideoWriter

_TRIES = 10
_SCALE = 2
# Where only the outcome matters: no overlay is drawn, and hardly a picture is taken.
_UNSEEN = Look(fps=1, overlay=False)


class RecordedPolicy:
    """A trained policy as `film_episode` takes it."""

    def __init__(self, trained: TrainedPolicy, seed: int, greedy: bool):
        """Plays one lane."""
        self._trained, self._seed, self._greedy = trained, seed, greedy
        self.reset()

    @property
    def actions(self) -> Sequence[str]:
        """The button combinations."""
        buttons = resolve_actions(self._trained.config.env.actions)
        return [describe_buttons(byte) for byte in buttons]

    def reset(self) -> None:
        """Forgets the episode before."""
        self._player: Player = self._trained.player(1, self._seed, self._greedy)
        self._first = True

    def notes(self) -> dict[str, Any]:
        """What the critic says of the present state."""
        # One digit: the bar has room for no more.
        return {"v": f"{self._player.values[0]:.1f}"}

    def act(self, obs: Any, info: dict[str, Any], console: Console) -> int:
        """Chooses an action."""
        del info, console
        batch = (
            {name: array[None] for name, array in obs.items()}
            if isinstance(obs, dict)
            else obs[None]
        )
        action = int(self._player(batch, np.array([self._first]))[0])
        self._first = False
        return action


def first_clear(
    env: RecordedEnv, trained: TrainedPolicy, *, seed: int, greedy: bool, tries: int
) -> int:
    """The first of a few seeds whose episode clears, or else the last of them."""
    for chosen in range(seed, seed + tries - 1):
        policy = RecordedPolicy(trained, chosen, greedy)
        if record_episode(env, policy, _nowhere, seed=chosen, look=_UNSEEN).info["flag_get"]:
            return chosen
    return seed + tries - 1


def _nowhere(picture: Frame) -> None:
    """Takes pictures that nobody wants to see."""


def record_policy(
    target: Path,
    output: Path,
    *,
    level: str | None = None,
    seed: int = 0,
    greedy: bool = False,
    tries: int = _TRIES,
) -> Path:
    """Films an episode: the first of a few seeds that clears, or else the last tried.

    Args:
        target: A run, a checkpoint, a policy file, or a folder of those.
        output: The video to write.
        level: Another level than the run's own.
        seed: The first to try.
        greedy: Always take the most likely action.
        tries: How many seeds.
    """
    trained = load_policy(target, level)
    env = RecordedEnv(
        named_levels(level) if level else trained_levels(trained.config.env),
        sticky_prob=trained.config.env.sticky_prob,
        noop_max=trained.config.env.noop_max,
        **trained.env_options(),
    )
    chosen = first_clear(env, trained, seed=seed, greedy=greedy, tries=tries)
    policy = RecordedPolicy(trained, chosen, greedy)
    with VideoWriter(output, fps=60, scale=_SCALE) as video:
        record_episode(env, policy, video.write, seed=chosen, notes=policy.notes)
    return output
