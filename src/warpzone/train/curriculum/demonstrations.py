"""Ways as the agent would have played them, for replay to learn from.

A search presses buttons that an action set may lack. Steps with such buttons are played, but not
shown to the learner.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from warpzone.algorithms import returns
from warpzone.algorithms.returns import Discount
from warpzone.config import TrainConfig
from warpzone.envs.actions import resolve_actions
from warpzone.envs.checks import make_route
from warpzone.envs.vector import MarioVectorEnv
from warpzone.errors import SolutionError
from warpzone.replay.buffer import Moments
from warpzone.runs.levels import trained_levels
from warpzone.search.route import solution_route
from warpzone.search.solution import SUFFIX, Solution, read_solution
from warpzone.train import build


def demonstrations(config: TrainConfig) -> list[Moments]:
    """What a run's ways show, one for each level.

    Raises:
        WayError: When a way does not fit the run.
    """
    folder = Path(config.starts.solutions)
    solutions = [read_solution(folder / f"{level}{SUFFIX}") for level in trained_levels(config.env)]
    return [demonstrate(solution, config) for solution in solutions]


def demonstrate(solution: Solution, config: TrainConfig) -> Moments:
    """Plays a way, and returns the steps that the run's actions can express, as of one lane.

    Raises:
        WayError: When it was found with another frame skip.
    """
    if solution.frame_skip != config.env.frame_skip:
        raise SolutionError(
            f"the solution of {solution.level} has inputs of {solution.frame_skip} frames and "
            f"env.frame_skip is {config.env.frame_skip}; solve it with --frame-skip "
            f"{config.env.frame_skip}, or give --replay-capacity 0"
        )
    options = config.env.policy_env_options()
    own = resolve_actions(config.env.actions)
    buttons = own + sorted(set(solution.inputs) - set(own))
    env = MarioVectorEnv(
        solution.level,
        num_threads=1,
        autoreset="disabled",
        reward=config.reward.env_reward,
        weights=config.reward.weights(num_envs=1),
        **(options | {"actions": buttons}),
    )
    try:
        track = solution_route(solution, config.env.rom or None)
        env.set_route(make_route(track.points, maze=track.maze))
        played, steps = _play(env, [buttons.index(byte) for byte in solution.inputs])
    finally:
        env.close()
    return _moments(played, solution.inputs, own, _returns(steps, build.gamma(config)))


class _Step(NamedTuple):
    """What a step brought: its reward, and pixels of progress."""

    reward: float
    progress: int


def _play(env: MarioVectorEnv, actions: Sequence[int]) -> tuple[list[Any], list[_Step]]:
    obs, _ = env.reset(seed=0)
    seen: list[Any] = []
    steps: list[_Step] = []
    reached = 0
    for action in actions:
        seen.append(obs)
        obs, reward, terminated, _, info = env.step([action])
        steps.append(_Step(float(reward[0]), int(info["progress"][0]) - reached))
        reached += steps[-1].progress
        if terminated[0]:
            break
    return seen, steps


def _returns(played: Sequence[_Step], gamma: Discount) -> Tensor:
    """What followed each step; the last one ends the episode."""
    rewards = torch.tensor([step.reward for step in played]).unsqueeze(1)
    progress = torch.tensor([step.progress for step in played]).unsqueeze(1)
    ends = torch.zeros_like(rewards, dtype=torch.bool)
    ends[-1] = True
    nothing = torch.zeros_like(rewards)
    steps = returns.Steps(rewards, nothing, nothing, ends, ends)
    return returns.gae(steps, gamma.of(progress), gae_lambda=1.0).returns


def _moments(seen: list[Any], inputs: bytes, own: list[int], values: Tensor) -> Moments:
    kept = [step for step in range(len(seen)) if inputs[step] in own]
    # A stack whose predecessor is left out shares no picture with what is there.
    first = [[place == 0 or kept[place - 1] != step - 1] for place, step in enumerate(kept)]
    stacks, features = _stacked([seen[step] for step in kept])
    return Moments(
        stacks,
        features,
        torch.tensor(first),
        torch.tensor([[own.index(inputs[step])] for step in kept]),
        values[kept],
        torch.zeros(len(kept), 1),
    )


def _stacked(seen: list[Any]) -> tuple[Tensor, Tensor | None]:
    if isinstance(seen[0], dict):
        tiles = np.stack([obs["tiles"] for obs in seen])
        features = np.stack([obs["features"] for obs in seen])
        return torch.from_numpy(tiles), torch.from_numpy(features)
    return torch.from_numpy(np.stack(seen)), None
