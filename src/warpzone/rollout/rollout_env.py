"""Adapters of vector environments for the collector: named observations, same-step autoreset.

`DirectEnv` is for environments that write into given arrays and reset themselves within a step.
`SteppedEnv` is for all others, in particular those inside a `gymnasium.vector.VectorWrapper`.
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
"""Mapping from field names to arrays with one value per environment."""


class StepInfo(NamedTuple):
    """Infos of a step, and final observations.

    Attributes:
        taken: Info of the step just taken. Where an episode ended, it describes the end.
        now: Info of the current state. Where an episode ended, it describes the next episode.
        final_obs: Final observations of ended episodes; None if no episode ended.
    """

    taken: Info
    now: Info
    final_obs: Arrays | None = None


class RolloutEnv(Protocol):
    """Interface of environments for the collector.

    When an episode ends, the next one begins within the same step.
    """

    num_envs: int
    obs_spaces: dict[str, spaces.Box]

    def reset(self, *, seed: int | None = None) -> tuple[Arrays, Info]:
        """Resets all environments."""

    def step_into(
        self,
        actions: NDArray[np.int64],
        obs: Arrays,
        reward: NDArray[np.float32],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
    ) -> StepInfo:
        """Steps all environments and writes into the given arrays."""


class WritingEnv(Protocol):
    """Vector environment with same-step autoreset that writes into given arrays."""

    num_envs: int
    single_observation_space: Any

    def reset(self, *, seed: int | None = None) -> tuple[Any, Info]:
        """Resets all environments."""

    def step_into(
        self,
        actions: NDArray[np.int64],
        obs: Any,
        reward: NDArray[np.float32],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
    ) -> Info:
        """Steps all environments and writes into the given arrays."""


class DirectEnv:
    """Adapter of an environment that writes into given arrays, without copies."""

    def __init__(self, env: WritingEnv):
        """Wraps an environment with same-step autoreset."""
        self._env = env
        self._space = env.single_observation_space
        self.num_envs = env.num_envs
        self.obs_spaces = space_tree(self._space)

    def reset(self, *, seed: int | None = None) -> tuple[Arrays, Info]:
        """Resets all environments."""
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
        """Steps all environments and writes into the given arrays."""
        target = as_observation(obs, self._space)
        info = self._env.step_into(actions, target, reward, terminated, truncated)
        final = info.get("final_obs")
        return StepInfo(step_info(info), info, None if final is None else as_tree(final))


class SteppedEnv:
    """Adapter of any Gymnasium vector environment with autoreset disabled; copies results.

    This class resets ended episodes with `options={"reset_mask": ...}`. Every wrapper therefore
    sees each observation, reward and reset, and does not need to handle autoreset.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]):
        """Wraps an environment.

        Raises:
            ValueError: Autoreset is not disabled.
        """
        mode = env.metadata.get("autoreset_mode")
        if mode != AutoresetMode.DISABLED:
            raise ValueError(f"the environment must have autoreset disabled, not {mode}")
        self._env = env
        self.num_envs = env.num_envs
        self.obs_spaces = space_tree(env.single_observation_space)

    def reset(self, *, seed: int | None = None) -> tuple[Arrays, Info]:
        """Resets all environments."""
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
        """Steps all environments and writes into the given arrays."""
        # Copied, since wrappers may keep or modify the actions, which belong to the rollout.
        stepped, reward[:], terminated[:], truncated[:], info = self._env.step(actions.copy())
        ended = terminated | truncated
        tree = as_tree(stepped)
        if not ended.any():
            copy_into(obs, tree)
            return StepInfo(info, info)
        # Copied, since the reset and the next step may reuse the arrays.
        final = {name: np.array(part) for name, part in tree.items()}
        fresh, now = self._env.reset(options={"reset_mask": ended})
        copy_into(obs, as_tree(fresh))
        return StepInfo(info, now, final)
