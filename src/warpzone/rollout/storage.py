"""Preallocated storage of one rollout; the environment writes its observations straight into it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from warpzone.models.actor_critic import Obs

_NEW = -1  # pixels of progress of an episode that has just begun


class RolloutStorage:
    """T steps of N lanes. Observations have one step more: the state after the last step."""

    _NAMES = (
        *("actions", "log_probs", "values", "next_values", "rewards"),
        *("terminated", "truncated", "forced", "first", "reached", "state"),
    )

    def __init__(
        self, steps: int, lanes: int, obs_space: Any, state_size: int, *, pinned: bool = False
    ):
        """Allocates everything once, in the host's memory, since the environment writes there.

        Args:
            steps: T.
            lanes: N.
            obs_space: The space of one observation: a Box, or a Dict of tiles and features.
            state_size: Length of the network's memory.
            pinned: Keep observations where a GPU can fetch them by itself.
        """
        self.steps, self.lanes = steps, lanes
        shapes = (
            [obs_space["tiles"].shape, obs_space["features"].shape]
            if hasattr(obs_space, "spaces")
            else [obs_space.shape]
        )
        self._obs = [
            torch.zeros((steps + 1, lanes, *shape), dtype=torch.uint8, pin_memory=pinned)
            for shape in shapes
        ]
        self.actions = torch.zeros(steps, lanes, dtype=torch.int64)
        self.log_probs = torch.zeros(steps, lanes)
        self.values = torch.zeros(steps, lanes)
        self.next_values = torch.zeros(steps, lanes)
        self.rewards = torch.zeros(steps, lanes)
        self.terminated = torch.zeros(steps, lanes, dtype=torch.bool)
        self.truncated = torch.zeros(steps, lanes, dtype=torch.bool)
        #: Whether somebody else than the policy chose the action.
        self.forced = torch.zeros(steps, lanes, dtype=torch.bool)
        #: Whether an episode begins with the observation of a step.
        self.first = torch.zeros(steps + 1, lanes, dtype=torch.bool)
        #: Pixels of progress that the episode of a step had made before it; less than nothing
        #: where that is not known, since it has just begun.
        self.reached = torch.full((steps + 1, lanes), _NEW, dtype=torch.int32)
        #: The network's memory before the first step.
        self.state = torch.zeros(lanes, state_size)
        self._views = [array.numpy() for array in self._obs]
        self._actions = self.actions.numpy()
        self._rewards = self.rewards.numpy()
        self._terminated = self.terminated.numpy()
        self._truncated = self.truncated.numpy()

    @property
    def nbytes(self) -> int:
        """Memory that all of it takes."""
        tensors = (value for value in vars(self).values() if isinstance(value, Tensor))
        return sum(tensor.nbytes for tensor in (*self._obs, *tensors))

    @property
    def ended(self) -> Tensor:
        """Whether an episode ended with each step, in any way."""
        return self.terminated | self.truncated

    def progress(self) -> Tensor:
        """Pixels of progress that each step made; none with which an episode begins or ends."""
        before, after = self.reached[:-1], self.reached[1:]
        return (after - before).where((before >= 0) & (after >= 0), 0)

    def put_reached(self, step: int, pixels: NDArray[np.int32]) -> None:
        """Takes how far the episodes have come with a step; those that it ended do not count."""
        self.reached[step + 1] = torch.from_numpy(pixels).where(~self.first[step + 1], _NEW)

    def obs(self, step: int) -> Obs:
        """Observations before a step (or after the last one)."""
        parts = [array[step] for array in self._obs]
        return (parts[0], parts[1]) if len(parts) == 2 else parts[0]

    def all_obs(self) -> Obs:
        """Observations before every step, [T, N, ...]."""
        parts = [array[: self.steps] for array in self._obs]
        return (parts[0], parts[1]) if len(parts) == 2 else parts[0]

    def obs_target(self, step: int) -> Any:
        """Where the environment writes the observations of a step."""
        if len(self._views) == 2:
            return {"tiles": self._views[0][step], "features": self._views[1][step]}
        return self._views[0][step]

    def step_targets(self, step: int) -> tuple[Any, Any, Any, Any]:
        """Where it writes what a step leads to: observations, rewards and ends."""
        return (
            self.obs_target(step + 1),
            self._rewards[step],
            self._terminated[step],
            self._truncated[step],
        )

    def put_first(self, obs: Any) -> None:
        """Takes the observations of a reset."""
        parts = [obs["tiles"], obs["features"]] if isinstance(obs, dict) else [obs]
        for view, part in zip(self._views, parts, strict=True):
            np.copyto(view[0], part)

    def statistics(self) -> dict[str, dict[str, float]]:
        """Smallest, largest and mean number of each quantity, and how many are no numbers."""
        return {
            name: _statistics(part)
            for name, part in (
                ("rewards", self.rewards),
                ("values", self.values),
                ("next_values", self.next_values),
                ("log_probs", self.log_probs),
            )
        }

    def roll_over(self) -> None:
        """Makes the last observations the first of the next rollout."""
        self.continue_from(self)

    def continue_from(self, before: RolloutStorage) -> None:
        """Begins with the last observations of another rollout."""
        for array, its in zip(self._obs, before._obs, strict=True):
            array[0].copy_(its[self.steps])
        self.first[0].copy_(before.first[self.steps])
        self.reached[0].copy_(before.reached[self.steps])

    def state_dict(self) -> dict[str, Tensor]:
        """The whole rollout."""
        parts = {f"obs{index}": array for index, array in enumerate(self._obs)}
        return parts | {name: getattr(self, name) for name in self._NAMES}

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """Takes what `state_dict` gave."""
        for index, array in enumerate(self._obs):
            array.copy_(state[f"obs{index}"])
        for name in self._NAMES:
            if name != "reached" or name in state:
                getattr(self, name).copy_(state[name])

    def first_obs_state(self) -> dict[str, Tensor]:
        """What the next rollout begins with."""
        parts = {f"obs{index}": array[0].clone() for index, array in enumerate(self._obs)}
        return parts | {"first": self.first[0].clone(), "reached": self.reached[0].clone()}

    def load_first_obs(self, state: dict[str, Tensor]) -> None:
        """Takes what `first_obs_state` gave."""
        for index, array in enumerate(self._obs):
            array[0].copy_(state[f"obs{index}"])
        self.first[0].copy_(state["first"])
        # Runs from before it was kept go on as if their episodes had just begun.
        self.reached[0].copy_(state.get("reached", torch.tensor(_NEW)))


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
