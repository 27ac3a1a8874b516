"""Environments as the collector steps them: observations by name, episodes that follow each other.

Two adapters cover every vector environment. `DirectEnv` is for environments that write into given
arrays and reset themselves within a step. `SteppedEnv` is for all others, in particular for those
inside a `gymnasium.vector.VectorWrapper`.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from warpzone.models.tree import Arrays, as_observation, as_tree, copy_into, space_tree
from warpzone.step_info import step_info

Info = dict[str, Any]
"""Arrays by name, one value per environment."""


class StepInfo(NamedTuple):
    """What an environment reports about a step, besides what it writes into arrays.

    Attributes:
        taken: Info of the step just taken: where an episode ended, of its end.
        now: Info of the present state: where an episode ended, of the start of the next one.
        final_obs: Where an episode ended, its last observation; None if none did.
    """

    taken: Info
    now: Info
    final_obs: Arrays | None = None


class RolloutEnv(Protocol):
    """What a collector needs of an environment.

    Where an episode ends, the next one begins within the same step.
    """

    num_envs: int
    obs_spaces: dict[str, spaces.Box]

    def reset(self, *, seed: int | None = None) -> tuple[Arrays, Info]:
        """Begins an episode in every environment."""

    def step_into(
        self,
        actions: NDArray[np.int64],
        obs: Arrays,
        reward: NDArray[np.float32],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
    ) -> StepInfo:
        """Steps every environment and writes into the given arrays."""


class WritingEnv(Protocol):
    """A vector environment with same-step autoreset that writes into given arrays."""

    num_envs: int
    single_observation_space: Any

    def reset(self, *, seed: int | None = None) -> tuple[Any, Info]:
        """Begins an episode in every environment."""

    def step_into(
        self,
        actions: NDArray[np.int64],
        obs: Any,
        reward: NDArray[np.float32],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
    ) -> Info:
        """Steps every environment and writes into the given arrays."""


class DirectEnv:
    """An environment that writes into given arrays: nothing is copied."""

    def __init__(self, env: WritingEnv):
        """Takes an environment with same-step autoreset."""
        self._env = env
        self._space = env.single_observation_space
        self.num_envs = env.num_envs
        self.obs_spaces = space_tree(self._space)

    def reset(self, *, seed: int | None = None) -> tuple[Arrays, Info]:
        """Begins an episode in every environment."""
        obs, info = self._env.reset(seed=seed)
        return as_tree(obs), info

    def step_into(
        self,
        actions: NDArray[np.int64],
        obs: Arrays,
        reward: NDArray[np.float32],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
    ) -> StepInfo:
        """Steps every environment and writes into the given arrays."""
        target = as_observation(obs, self._space)
        info = self._env.step_into(actions, target, reward, terminated, truncated)
        final = info.get("final_obs")
        return StepInfo(step_info(info), info, None if final is None else as_tree(final))


class SteppedEnv:
    """Any Gymnasium vector environment with autoreset disabled; results are copied.

    Ended episodes are reset here, through `options={"reset_mask": ...}`. That way every wrapper
    sees each observation, reward and reset, and no wrapper needs to know of autoreset.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]):
        """Takes an environment.

        Raises:
            ValueError: It resets itself.
        """
        mode = env.metadata.get("autoreset_mode")
        if mode != AutoresetMode.DISABLED:
            raise ValueError(f"the environment must have autoreset disabled, not {mode}")
        self._env = env
        self.num_envs = env.num_envs
        self.obs_spaces = space_tree(env.single_observation_space)

    def reset(self, *, seed: int | None = None) -> tuple[Arrays, Info]:
        """Begins an episode in every environment."""
        obs, info = self._env.reset(seed=seed)
        return as_tree(obs), info

    def step_into(
        self,
        actions: NDArray[np.int64],
        obs: Arrays,
        reward: NDArray[np.float32],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
    ) -> StepInfo:
        """Steps every environment and writes into the given arrays."""
        # Wrappers may keep or change the actions, which belong to the rollout.
        stepped, reward[:], terminated[:], truncated[:], info = self._env.step(actions.copy())
        ended = terminated | truncated
        tree = as_tree(stepped)
        if not ended.any():
            copy_into(obs, tree)
            return StepInfo(info, info)
        # The next step may reuse the arrays, and so may the reset.
        final = {name: np.array(part) for name, part in tree.items()}
        fresh, now = self._env.reset(options={"reset_mask": ended})
        copy_into(obs, as_tree(fresh))
        return StepInfo(info, now, final)
