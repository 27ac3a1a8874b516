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
from warpzone.video.choosing import Choice, OnProgress, Recording, choose_episode
from warpzone.video.episode import Outcome, VideoOptions, record_episode
from warpzone.video.output import check_output
from warpzone.video.recorded_env import RecordedEnv
from warpzone.video.video_format import VideoFormat
from warpzone.video.wrapped_recording import WrappedRecording
from warpzone.video.writer import Frame

_MAX_SEEDS = 10
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
        return {"value": f"{self._player.values[0]:.1f}"}

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


def choose_policy_episode(
    env: RecordedEnv | WrappedRecording,
    trained: TrainedPolicy,
    *,
    seeds: range,
    greedy: bool,
    progress: OnProgress | None = None,
) -> Choice:
    """Returns the first episode that clears the level, or else the one that gets furthest."""

    def play(seed: int) -> Outcome:
        policy = RecordedPolicy(trained, seed, greedy)
        return record_episode(env, policy, _discard, seed=seed, options=_OUTCOME_ONLY)

    return choose_episode(play, seeds, lambda outcome: int(outcome.info["progress"]), progress)


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
    video_format: VideoFormat | None = None,
    progress: OnProgress | None = None,
) -> Recording:
    """Records the first episode that clears the level, or else the one that gets furthest.

    Args:
        target: A run, a checkpoint, a policy file, or a folder of policy files.
        output: Video file to write.
        level: Level to play instead of the levels the policy was trained on.
        seed: First seed to try.
        greedy: Always take the most likely action.
        max_seeds: Number of seeds to try.
        rom: ROM to play instead of the one that the policy was trained with.
        video_format: Size, frame rate and speed.
        progress: Called while episodes are tried and recorded.
    """
    video_format = video_format or VideoFormat()
    video_writer = video_format.writer(output)
    check_output(output)  # Before minutes are spent on episodes.
    trained = load_policy(target, level, rom)
    options = trained.config.env
    levels = named_levels(level, options.game) if level else trained_levels(options)
    env = make_recorded_env(trained, levels)
    seeds = range(seed, seed + max_seeds)
    choice = choose_policy_episode(env, trained, seeds=seeds, greedy=greedy, progress=progress)
    policy = RecordedPolicy(trained, choice.seed, greedy)
    video_format.prepare(env)
    with video_writer as video:
        outcome = record_episode(
            env,
            policy,
            video.write,
            seed=choice.seed,
            options=video_format.options(output),
            on_step=choice.on_step(progress),
            extra_text=policy.value_text,
            write_sound=video_format.write_sound(video),
        )
    return Recording(output, choice, outcome)
