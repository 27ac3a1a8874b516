"""Recording a whole game, from 1-1 to the princess."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from warpzone.envs.actions import describe_buttons
from warpzone.envs.console import Console
from warpzone.evaluation.game_evaluation import GAME, MAX_STEPS
from warpzone.evaluation.level_policies import GamePlayer, LevelPolicies, load_level_policies
from warpzone.evaluation.policies import add_batch_dimension
from warpzone.video.choosing import Choice, OnProgress, Recording, choose_episode
from warpzone.video.episode import Outcome, VideoOptions, record_episode
from warpzone.video.output import check_output
from warpzone.video.recorded_env import FRAMES_PER_SECOND, RecordedEnv
from warpzone.video.video_format import VideoFormat
from warpzone.video.writer import Frame

_STICKY_PROB, _NOOP_MAX = 0.25, 30
# From the axe until the princess has said all that she has to say, at the game's own speed at most.
_FRAMES_OF_ENDING = 16 * FRAMES_PER_SECOND
_SPEED_OF_ENDING = 1.0
# For games of which only the outcome matters: no overlay, and as few frames as possible.
_OUTCOME_ONLY = VideoOptions(fps=1, overlay=False)


class RecordedGame:
    """Adapts policies by level to the `Policy` interface of `record_episode`."""

    def __init__(self, policies: LevelPolicies, seed: int, greedy: bool) -> None:
        """Creates a policy for a single environment."""
        self._policies, self._seed, self._greedy = policies, seed, greedy
        self.reset()

    @property
    def actions(self) -> Sequence[str]:
        """The button combinations of all policies."""
        return [describe_buttons(byte) for byte in self._policies.buttons]

    def reset(self) -> None:
        """Starts a new game."""
        self._player: GamePlayer = self._policies.player(1, self._seed, self._greedy)
        self._first = True

    def value_text(self) -> dict[str, Any]:
        """Returns the critic's value estimate for the overlay."""
        return {"value": f"{self._player.values[0]:.1f}"}

    def act(self, obs: Any, info: dict[str, Any], console: Console) -> int:
        """Returns the next action."""
        del console
        first, self._first = self._first, False
        return int(self._player(add_batch_dimension(obs), np.array([first]), info)[0])


def record_game(
    target: Path,
    output: Path,
    *,
    seed: int = 0,
    greedy: bool = False,
    max_seeds: int,
    rom: Path | None = None,
    video_format: VideoFormat | None = None,
    progress: OnProgress | None = None,
) -> Recording:
    """Records a game: the first that rescues the princess, or else the one that gets furthest.

    Args:
        target: A run, a checkpoint, a policy file, or a folder of policy files.
        output: Video file to write.
        seed: First seed to try.
        greedy: Always take the most likely action.
        max_seeds: Number of seeds to try.
        rom: ROM to play instead of the one that the policies were trained with.
        video_format: Size, frame rate and speed.
        progress: Called while games are tried and recorded.
    """
    video_format = video_format or VideoFormat()
    video_writer = video_format.writer(output)
    check_output(output)  # Before minutes are spent on games.
    policies = load_level_policies(target, rom)
    env = RecordedEnv(GAME, sticky_prob=_STICKY_PROB, noop_max=_NOOP_MAX, **policies.env_options())
    choice = _choose_game(env, policies, range(seed, seed + max_seeds), greedy, progress)
    policy = RecordedGame(policies, choice.seed, greedy)
    options = video_format.options(output)
    video_format.prepare(env)
    with video_writer as video:
        outcome = record_episode(
            env,
            policy,
            video.write,
            seed=choice.seed,
            steps=MAX_STEPS,
            options=options,
            after_clear=_FRAMES_OF_ENDING,
            speed_after_clear=min(options.speed, _SPEED_OF_ENDING),
            on_step=choice.on_step(progress),
            extra_text=policy.value_text,
            write_sound=video_format.write_sound(video),
        )
    return Recording(output, choice, outcome)


def _choose_game(
    env: RecordedEnv,
    policies: LevelPolicies,
    seeds: range,
    greedy: bool,
    progress: OnProgress | None,
) -> Choice:
    def play(seed: int) -> Outcome:
        policy = RecordedGame(policies, seed, greedy)
        return record_episode(
            env, policy, _discard, seed=seed, steps=MAX_STEPS, options=_OUTCOME_ONLY
        )

    return choose_episode(play, seeds, lambda outcome: int(outcome.info["clears"]), progress)


def _discard(frame: Frame) -> None:
    """Ignores a frame."""
