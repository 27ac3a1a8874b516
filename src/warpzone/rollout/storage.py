"""Preallocated storage of one rollout, into which the environment writes directly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor

from warpzone.models.tree import Arrays, Tree, copy_into, map_tree, torch_dtype


class RolloutStorage:
    """Stores T steps of N environments, and the observations after the last step."""

    _NAMES = (
        *("actions", "log_probs", "values", "next_values", "rewards", "terminated", "truncated"),
        *("overridden", "discount_exponents", "levels", "first", "state"),
    )

    def __init__(
        self,
        steps: int,
        num_envs: int,
        obs_spaces: Mapping[str, spaces.Box],
        state_size: int,
        *,
        pinned: bool = False,
    ):
        """Allocates the storage in host memory, into which the environment writes.

        Args:
            steps: Number of steps, T.
            num_envs: Number of environments, N.
            obs_spaces: Named parts of one observation.
            state_size: Size of the network's recurrent state.
            pinned: Whether to use pinned memory for observations, for asynchronous GPU copies.
        """
        self.steps, self.num_envs = steps, num_envs
        self._obs: Tree = {
            name: torch.zeros(
                (steps + 1, num_envs, *box.shape), dtype=torch_dtype(box), pin_memory=pinned
            )
            for name, box in obs_spaces.items()
        }
        self.actions = torch.zeros(steps, num_envs, dtype=torch.int64)
        self.log_probs = torch.zeros(steps, num_envs)
        self.values = torch.zeros(steps, num_envs)
        #: Value of the state after each step; where an episode ended, of its final state.
        self.next_values = torch.zeros(steps, num_envs)
        self.rewards = torch.zeros(steps, num_envs)
        self.terminated = torch.zeros(steps, num_envs, dtype=torch.bool)
        self.truncated = torch.zeros(steps, num_envs, dtype=torch.bool)
        #: Whether a script or a rescue chose the action instead of the policy.
        self.overridden = torch.zeros(steps, num_envs, dtype=torch.bool)
        #: Exponent of the additional discount of each step; see `returns.discount_factors`.
        self.discount_exponents = torch.zeros(steps, num_envs)
        #: Number of the level that each step plays, in the order of the run's levels.
        self.levels = torch.zeros(steps, num_envs, dtype=torch.int64)
        #: Whether an episode begins with the observation of a step.
        self.first = torch.zeros(steps + 1, num_envs, dtype=torch.bool)
        #: Recurrent state of the network before the first step.
        self.state = torch.zeros(num_envs, state_size)
        self._obs_arrays: Arrays = map_tree(Tensor.numpy, self._obs)
        self._rewards = self.rewards.numpy()
        self._terminated = self.terminated.numpy()
        self._truncated = self.truncated.numpy()

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        tensors = (getattr(self, name) for name in self._NAMES)
        return sum(tensor.nbytes for tensor in (*self._obs.values(), *tensors))

    @property
    def ended(self) -> Tensor:
        """Whether an episode ended with each step, terminated or truncated."""
        return self.terminated | self.truncated

    def obs(self, step: int) -> Tree:
        """Returns the observations before a step (or after the last one)."""
        return map_tree(lambda part: part[step], self._obs)

    def all_obs(self) -> Tree:
        """Returns the observations before every step, [T, N, ...]."""
        return map_tree(lambda part: part[: self.steps], self._obs)

    def obs_arrays(self) -> Arrays:
        """Arrays of all observations, [T + 1, N, ...], that share the memory of the tensors."""
        return self._obs_arrays

    def obs_target(self, step: int) -> Arrays:
        """Returns the arrays for the observations before a step (or after the last one)."""
        return map_tree(lambda array: array[step], self._obs_arrays)

    def step_targets(
        self, step: int
    ) -> tuple[Arrays, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_]]:
        """Returns the arrays for a step's observations, rewards, terminated and truncated."""
        return (
            self.obs_target(step + 1),
            self._rewards[step],
            self._terminated[step],
            self._truncated[step],
        )

    def put_first(self, obs: Arrays) -> None:
        """Stores the observations of a reset."""
        copy_into(self.obs_target(0), obs)

    def statistics(self) -> dict[str, dict[str, float]]:
        """Returns minimum, maximum, mean and the number of non-finite values per quantity."""
        names = ("rewards", "values", "next_values", "log_probs")
        return {name: _statistics(getattr(self, name)) for name in names}

    def roll_over(self) -> None:
        """Copies the last observations to the start of the next rollout."""
        self.continue_from(self)

    def continue_from(self, before: RolloutStorage) -> None:
        """Starts from the last observations of another rollout."""
        for name, part in self._obs.items():
            part[0].copy_(before._obs[name][self.steps])
        self.first[0].copy_(before.first[self.steps])

    def state_dict(self) -> dict[str, Any]:
        """Returns the whole rollout."""
        return {"obs": dict(self._obs)} | {name: getattr(self, name) for name in self._NAMES}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        for name, part in self._obs.items():
            part.copy_(state["obs"][name])
        for name in self._NAMES:
            getattr(self, name).copy_(state[name])

    def first_obs_state(self) -> dict[str, Any]:
        """Returns the observations that the next rollout starts with."""
        return {"obs": map_tree(Tensor.clone, self.obs(0)), "first": self.first[0].clone()}

    def load_first_obs(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `first_obs_state`."""
        for name, part in self.obs(0).items():
            part.copy_(state["obs"][name])
        self.first[0].copy_(state["first"])


def _statistics(values: Tensor) -> dict[str, float]:
    finite = values[values.isfinite()]
    row: dict[str, float] = {"not_finite": values.numel() - finite.numel()}
    if finite.numel():
        row |= {
            "min": float(finite.min()),
            "max": float(finite.max()),
            "mean": float(finite.mean()),
        }
    return row
