"""Demonstrations for replay, made from solutions.

A search may press buttons that the action set lacks. Such steps are played, but excluded from the
demonstration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from warpzone.algorithms import returns
from warpzone.config import LearnOptions, TrainConfig
from warpzone.envs.actions import resolve_actions
from warpzone.envs.checks import make_route
from warpzone.envs.training_signals import TrainingSignals
from warpzone.envs.vector import MarioVectorEnv
from warpzone.errors import SolutionError
from warpzone.models.tree import Arrays, as_tree, map_tree, stack_trees
from warpzone.replay.buffer import Transitions
from warpzone.runs.levels import trained_levels
from warpzone.search.route import solution_route
from warpzone.search.solution import SUFFIX, Solution, read_solution, solutions_folder


def demonstrations(config: TrainConfig) -> list[Transitions]:
    """Creates demonstrations from a run's solutions, one per level.

    Raises:
        SolutionError: A solution does not fit the run.
    """
    folder = solutions_folder(config.starts.solutions)
    solutions = [read_solution(folder / f"{level}{SUFFIX}") for level in trained_levels(config.env)]
    return [demonstrate(solution, config) for solution in solutions]


def demonstrate(solution: Solution, config: TrainConfig) -> Transitions:
    """Plays a solution and returns the steps that the action set can express, as of one env.

    Raises:
        SolutionError: The solution was found with a different frame skip.
    """
    if solution.frame_skip != config.env.frame_skip:
        raise SolutionError(
            f"the solution of {solution.level} has a frame skip of {solution.frame_skip}, but "
            f"env.frame_skip is {config.env.frame_skip}; solve it with --frame-skip "
            f"{config.env.frame_skip}, or use --replay-capacity 0"
        )
    options = config.env.policy_env_options()
    actions = resolve_actions(config.env.actions)
    buttons = actions + sorted(set(solution.inputs) - set(actions))
    env = MarioVectorEnv(
        solution.level,
        num_threads=1,
        autoreset="disabled",
        reward=config.reward.env_reward,
        weights=config.reward.weights(num_envs=1),
        **(options | {"actions": buttons}),
    )
    try:
        route = solution_route(solution, config.env.rom or None)
        env.set_route(make_route(route.points, maze=route.maze))
        played = _play(env, [buttons.index(byte) for byte in solution.inputs])
    finally:
        env.close()
    return _transitions(played, solution.inputs, actions, config.learn)


class _Played(NamedTuple):
    """Steps of an episode, one entry per step."""

    obs: list[Arrays]
    rewards: list[NDArray[np.float32]]
    exponents: list[NDArray[np.float32]]


def _play(env: MarioVectorEnv, actions: Sequence[int]) -> _Played:
    obs, _ = env.reset(seed=0)
    played = _Played([], [], [])
    signals = TrainingSignals(1, 0, begin_at=0)
    nothing = np.zeros(1, np.bool_)
    for action in actions:
        played.obs.append(as_tree(obs))
        obs, reward, terminated, _, info = env.step([action])
        played.rewards.append(reward)
        played.exponents.append(signals.discount_exponents(info, nothing))
        if terminated[0]:
            break
    return played


def _transitions(
    played: _Played, inputs: bytes, actions: list[int], learn: LearnOptions
) -> Transitions:
    kept = [step for step in range(len(played.obs)) if inputs[step] in actions]
    # A stack whose predecessor is excluded shares no frames with the stored stacks.
    first = [[place == 0 or kept[place - 1] != step - 1] for place, step in enumerate(kept)]
    return Transitions(
        map_tree(torch.from_numpy, stack_trees([played.obs[step] for step in kept])),
        torch.tensor(first),
        torch.tensor([[actions.index(inputs[step])] for step in kept]),
        _returns(played, learn)[kept],
        torch.zeros(len(kept), 1),
    )


def _returns(played: _Played, learn: LearnOptions) -> torch.Tensor:
    """Computes the discounted return of each step; the last step ends the episode."""
    rewards = torch.from_numpy(np.stack(played.rewards))
    exponents = torch.from_numpy(np.stack(played.exponents))
    ends = torch.zeros_like(rewards, dtype=torch.bool)
    ends[-1] = True
    zeros = torch.zeros_like(rewards)
    gamma = returns.discount_factors(learn.gamma, learn.progress_gamma, exponents)
    steps = returns.Steps(rewards, zeros, zeros, ends, ends)
    return returns.gae(steps, gamma, gae_lambda=1.0).returns
