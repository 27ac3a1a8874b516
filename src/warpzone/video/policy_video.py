"""Recording a video of a trained policy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from warpzone.envs.actions import describe_buttons, resolve_actions
from warpzone.envs.console import Console
from warpzone.evaluation.policies import add_batch_dimension
from warpzone.evaluation.trained import Player, TrainedPolicy, load_policy
from warpzone.runs.levels import named_levels, trained_levels
from warpzone.video.episode import VideoOptions, record_episode
from warpzone.video.output import check_output
from warpzone.video.recorded_env import RecordedEnv
from warpzone.video.wrapped_recording import WrappedRecording
from warpzone.video.writer import Frame, VideoWriter

_MAX_SEEDS = 10
_SCALE = 2
# For episodes of which only the outcome matters: no overlay, and as few frames as possible.
_OUTCOME_ONLY = VideoOptions(fps=1, overlay=False)


class RecordedPolicy:
    """Adapts a trained policy to the `Policy` interface of `record_episode`."""

    def __init__(self, trained: TrainedPolicy, seed: int, greedy: bool):
        """Creates a policy for a single environment."""
        self._trained, self._seed, self._greedy = trained, seed, greedy
        self.reset()

    @property
    def actions(self) -> Sequence[str]:
        """The button combinations of the policy's actions."""
        buttons = resolve_actions(self._trained.config.env.actions)
        return [describe_buttons(byte) for byte in buttons]

    def reset(self) -> None:
        """Starts a new episode."""
        self._player: Player = self._trained.player(1, self._seed, self._greedy)
        self._episode_start = True

    def value_text(self) -> dict[str, Any]:
        """Returns the critic's value estimate for the overlay."""
        return {"v": f"{self._player.values[0]:.1f}"}  # The overlay only has room for one decimal.

    def act(self, obs: Any, info: dict[str, Any], console: Console) -> int:
        """Returns the next action."""
        del info, console
        first = np.array([self._episode_start])
        action = int(self._player(add_batch_dimension(obs), first)[0])
        self._episode_start = False
        return action


def make_recorded_env(
    trained: TrainedPolicy, levels: str | Sequence[str]
) -> RecordedEnv | WrappedRecording:
    """Creates an environment with the noise and the wrappers the policy was trained with."""
    env = RecordedEnv(
        levels,
        sticky_prob=trained.config.env.sticky_prob,
        sticky=trained.config.env.sticky,
        noop_max=trained.config.env.noop_max,
        **trained.env_options(),
    )
    return env if trained.wrap is None else WrappedRecording(env, trained.wrap)


def first_clearing_seed(
    env: RecordedEnv | WrappedRecording,
    trained: TrainedPolicy,
    *,
    seed: int,
    greedy: bool,
    max_seeds: int,
) -> int:
    """Returns the first of `max_seeds` seeds whose episode clears the level, or else the last."""
    for candidate in range(seed, seed + max_seeds - 1):
        policy = RecordedPolicy(trained, candidate, greedy)
        outcome = record_episode(env, policy, _discard, seed=candidate, options=_OUTCOME_ONLY)
        if outcome.cleared:
            return candidate
    return seed + max_seeds - 1


def _discard(frame: Frame) -> None:
    """Ignores a frame."""


def record_policy(
    target: Path,
    output: Path,
    *,
    level: str | None = None,
    seed: int = 0,
    greedy: bool = False,
    max_seeds: int = _MAX_SEEDS,
    rom: Path | None = None,
) -> Path:
    """Records an episode: that of the first seed that clears the level, or else of the last seed.

    Args:
        target: A run, a checkpoint, a policy file, or a folder of policy files.
        output: Video file to write.
        level: Level to play instead of the levels the policy was trained on.
        seed: First seed to try.
        greedy: Always take the most likely action.
        max_seeds: Number of seeds to try.
        rom: ROM to play instead of the one that the policy was trained with.

    Returns:
        The path of the written file.
    """
    video_writer = VideoWriter(output, fps=60, scale=_SCALE)
    check_output(output)  # Before minutes are spent on episodes.
    trained = load_policy(target, level, rom)
    options = trained.config.env
    levels = named_levels(level, options.game) if level else trained_levels(options)
    env = make_recorded_env(trained, levels)
    seed = first_clearing_seed(env, trained, seed=seed, greedy=greedy, max_seeds=max_seeds)
    policy = RecordedPolicy(trained, seed, greedy)
    with video_writer as video:
        record_episode(env, policy, video.write, seed=seed, extra_text=policy.value_text)
    return output
