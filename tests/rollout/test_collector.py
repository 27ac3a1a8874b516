"""The collector: truncated episodes, discount exponents and observers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor, nn

from warpzone.models.actor_critic import ActorCritic
from warpzone.models.memory import make_memory
from warpzone.models.tree import IMAGE
from warpzone.rollout.collector import Collector, StepSignals
from warpzone.rollout.rollout_env import DirectEnv
from warpzone.rollout.storage import RolloutStorage

ENVS, CUT_AT = 3, 2


class Cutting:
    """Every episode is truncated at its second step."""

    def __init__(self) -> None:
        self.num_envs = ENVS
        self.single_observation_space = spaces.Box(0, 255, (2,), np.uint8)
        self.steps = 0

    def reset(self, *, seed: int | None = None) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        return np.zeros((ENVS, 2), np.uint8), {}

    def step_into(
        self, actions: NDArray[np.int64], obs: Any, reward: Any, terminated: Any, truncated: Any
    ) -> dict[str, Any]:
        self.steps += 1
        age = (self.steps - 1) % CUT_AT + 1
        obs[:] = 0
        reward[:] = self.steps
        terminated[:] = False
        truncated[:] = age == CUT_AT
        info: dict[str, Any] = {"age": np.full(ENVS, age)}
        if age == CUT_AT:
            info["final_obs"] = np.full((ENVS, 2), 200, np.uint8)
        return info


class Sum(nn.Module):
    """Distinguishes images by their brightness."""

    def forward(self, obs: Tensor) -> Tensor:
        return obs.float().sum(-1, keepdim=True)


class LastIsHopeless:
    """Exponents are ten per step; the last environment has no future."""

    hopeless_value = -2.5

    def __init__(self) -> None:
        self.begun = 0

    def begin(self) -> None:
        self.begun += 1

    def discount_exponents(
        self, info: dict[str, Any], ended: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        return np.where(ended, 0.0, 10.0 * info["age"]).astype(np.float32)

    def has_no_future(self, info: dict[str, Any]) -> NDArray[np.bool_]:
        assert (info["age"] == CUT_AT).all(), "the info of the end, not of the next start"
        return np.arange(ENVS) == ENVS - 1


def collected(signals: StepSignals | None = None) -> tuple[RolloutStorage, float, list[Any]]:
    """A rollout, the critic's value of the last image of an episode, and what observers saw."""
    torch.manual_seed(0)
    env = DirectEnv(Cutting())
    memory = make_memory("none", 1, 1, window=1)
    model = ActorCritic(Sum(), memory, 2, obs_name=IMAGE)
    storage = RolloutStorage(4, ENVS, env.obs_spaces, 0)
    generator = torch.Generator().manual_seed(1)
    seen: list[Any] = []

    def observe(
        info: dict[str, Any], rewards: NDArray[np.float32], ended: NDArray[np.bool_]
    ) -> None:
        seen.append((info["age"].tolist(), rewards.tolist(), ended.tolist()))

    collector = Collector(
        env, model, storage, generator, model.step, observers=[observe], signals=signals
    )
    collector.begin(seed=0)
    collector.collect()
    last = {IMAGE: torch.full((1, 2), 200, dtype=torch.uint8)}
    value = model.step(last, torch.zeros(1, 0), torch.zeros(1, dtype=torch.bool)).values.detach()
    return storage, float(value), seen


def test_a_truncated_episode_is_bootstrapped_from_its_final_state() -> None:
    storage, value, _ = collected()
    assert storage.next_values[CUT_AT - 1].tolist() == pytest.approx([value] * ENVS)
    assert value != pytest.approx(float(storage.values[0, 0])), "the end looks different"


def test_a_hopeless_truncation_has_its_own_value() -> None:
    storage, value, _ = collected(LastIsHopeless())
    assert storage.next_values[CUT_AT - 1].tolist() == pytest.approx([value, value, -2.5])
    assert not storage.terminated.any(), "it is truncated nonetheless"


def test_exponents_are_stored_with_their_steps_and_default_to_zero() -> None:
    signals = LastIsHopeless()
    storage, _, _ = collected(signals)
    assert signals.begun == 1
    assert storage.discount_exponents.tolist() == [[10.0] * 3, [0.0] * 3, [10.0] * 3, [0.0] * 3]
    assert not collected()[0].discount_exponents.any()


def test_observers_see_info_rewards_and_ends_of_every_step() -> None:
    _, _, seen = collected()
    assert [ages for ages, _, _ in seen] == [[1] * 3, [2] * 3, [1] * 3, [2] * 3]
    assert [rewards[0] for _, rewards, _ in seen] == [1.0, 2.0, 3.0, 4.0]
    assert [ended[0] for _, _, ended in seen] == [False, True, False, True]
