"""Both adapters give the collector the same names, infos and final observations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space

from warpzone.rollout.rollout_env import DirectEnv, SteppedEnv

LIMITS = np.array([2, 3, 4])  # Steps of each environment's episodes.


class Counter(VectorEnv[Any, Any, Any]):
    """Shows the age of each episode, which is truncated at its limit."""

    def __init__(self, mode: AutoresetMode) -> None:
        self.num_envs = len(LIMITS)
        self.metadata = {"autoreset_mode": mode}
        self.single_observation_space = spaces.Box(0, 255, (1,), np.uint8)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.age = np.zeros(self.num_envs, np.int64)

    def _obs(self) -> Any:
        return self.age.astype(np.uint8)[:, None]

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.age[(options or {}).get("reset_mask", np.ones(self.num_envs, bool))] = 0
        return self._obs(), {"age": self.age.copy()}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        self.age += 1
        no = np.zeros(self.num_envs, bool)
        return self._obs(), actions * 0.5, no, self.age == LIMITS, {"age": self.age.copy()}


class Doubled(VectorWrapper[Any, Any, Any, Any, Any]):
    """Doubles rewards and observations."""

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        obs, info = self.env.reset(**kwargs)
        return obs * 2, info

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self.env.step(actions)
        actions[:] = 0  # A wrapper may modify its argument.
        return obs * 2, reward * 2, terminated, truncated, info


def targets() -> tuple[Any, Any, Any, Any]:
    obs = {"image": np.zeros((3, 1), np.uint8)}
    return obs, np.zeros(3, np.float32), np.zeros(3, bool), np.zeros(3, bool)


def test_a_wrapped_environment_is_stepped_and_reset_through_its_wrapper() -> None:
    env = SteppedEnv(Doubled(Counter(AutoresetMode.DISABLED)))
    obs, info = env.reset(seed=1)
    assert obs["image"].tolist() == [[0], [0], [0]]
    assert info["age"].tolist() == [0, 0, 0]
    actions = np.array([1, 2, 3])
    obs, reward, terminated, truncated = targets()
    step = env.step_into(actions, obs, reward, terminated, truncated)
    assert step.final_obs is None
    assert obs["image"][:, 0].tolist() == [2, 2, 2]
    assert reward.tolist() == [1.0, 2.0, 3.0]
    assert actions.tolist() == [1, 2, 3], "the actions of the rollout are changed"
    step = env.step_into(actions, obs, reward, terminated, truncated)
    assert truncated.tolist() == [True, False, False]
    assert step.taken["age"].tolist() == [2, 2, 2]
    assert step.now["age"].tolist() == [0, 2, 2]
    assert obs["image"][:, 0].tolist() == [0, 4, 4]
    assert step.final_obs is not None
    assert step.final_obs["image"][:, 0].tolist() == [4, 4, 4]


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_environments_with_autoreset_are_rejected(mode: AutoresetMode) -> None:
    with pytest.raises(ValueError, match="must have autoreset disabled"):
        SteppedEnv(Counter(mode))


class Writing:
    """Writes tiles and features; episodes never end."""

    num_envs = 2
    single_observation_space = spaces.Dict(
        {
            "tiles": spaces.Box(0, 255, (3,), np.uint8),
            "features": spaces.Box(0, 255, (1,), np.uint8),
        }
    )

    def reset(self, *, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        return {"tiles": np.zeros((2, 3)), "features": np.zeros((2, 1))}, {}

    def step_into(self, actions: Any, obs: Any, reward: Any, *ends: Any) -> dict[str, Any]:
        obs["tiles"][:] = 7
        obs["features"][:] = 8
        return {"lives": np.array([1, 2])}


def test_a_dict_space_keeps_its_names() -> None:
    env = DirectEnv(Writing())
    assert list(env.obs_spaces) == ["features", "tiles"]
    obs = {"tiles": np.zeros((2, 3), np.uint8), "features": np.zeros((2, 1), np.uint8)}
    flags = np.zeros(2, bool)
    step = env.step_into(np.zeros(2, np.int64), obs, np.zeros(2, np.float32), flags, flags)
    assert obs["tiles"].tolist() == [[7] * 3] * 2
    assert obs["features"].tolist() == [[8]] * 2
    assert step.taken is step.now
    assert step.final_obs is None
