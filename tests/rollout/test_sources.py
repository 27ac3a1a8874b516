"""Overlapped collection: the same rollouts whatever the timing, errors raised, state saved."""

from __future__ import annotations

import threading
import time
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
from warpzone.rollout.collector import Collector
from warpzone.rollout.rollout_env import DirectEnv
from warpzone.rollout.sources import OverlappedSource, SerialSource, snapshot_of
from warpzone.rollout.storage import RolloutStorage

ENVS, STEPS, ACTIONS = 3, 4, 5


class Counting:
    """Shows how many steps were taken and remembers the threads that stepped it."""

    def __init__(self, delay: float = 0.0, fail_at: int = -1):
        self.num_envs, self.delay, self.fail_at = ENVS, delay, fail_at
        self.single_observation_space = spaces.Box(0, 255, (2,), np.uint8)
        self.steps = 0
        self.threads: set[str] = set()

    def _obs(self) -> NDArray[np.uint8]:
        return np.full((ENVS, 2), self.steps % 256, np.uint8)

    def reset(self, *, seed: int | None = None) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        return self._obs(), {}

    def step_into(
        self, actions: NDArray[np.int64], obs: Any, reward: Any, terminated: Any, truncated: Any
    ) -> dict[str, Any]:
        time.sleep(self.delay)
        self.threads.add(threading.current_thread().name)
        if self.steps == self.fail_at:
            raise RuntimeError("environment 1 fell over")
        self.steps += 1
        reward[:] = actions
        terminated[:] = truncated[:] = False
        obs[:] = self._obs()
        return {}


class Encoder(nn.Module):
    size = 4

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, self.size)

    def forward(self, obs: Tensor) -> Tensor:
        return torch.tanh(self.layer(obs.float() / 255.0))


class Setup:
    """A model, an environment and a source of rollouts."""

    def __init__(self, overlapped: bool, **env: Any):
        torch.manual_seed(0)
        self.env = Counting(**env)
        memory = make_memory("none", 4, 4, window=1)
        self.model = ActorCritic(Encoder(), memory, ACTIONS, obs_name=IMAGE)
        stepper = DirectEnv(self.env)
        storages = [RolloutStorage(STEPS, ENVS, stepper.obs_spaces, 0) for _ in range(2)]
        policy = snapshot_of(self.model) if overlapped else self.model
        self.generator = torch.Generator().manual_seed(1)
        self.collector = Collector(stepper, policy, storages[0], self.generator, policy.step)
        self.collector.begin(seed=0)
        self.source = (
            OverlappedSource(self.collector, self.model, storages[1])
            if overlapped
            else SerialSource(self.collector)
        )

    def teach(self, amount: float, seconds: float = 0.0) -> None:
        """Changes the weights a little, like a learner."""
        for _ in range(5):
            time.sleep(seconds / 5)
            with torch.no_grad():
                self.model.policy.bias += amount * torch.arange(ACTIONS) / 5

    def update(self, amount: float, seconds: float = 0.0) -> tuple[Tensor, Tensor, int]:
        rollout = self.source.take()
        before = rollout.storage.log_probs.clone()
        self.source.launch()
        self.teach(amount, seconds)
        assert torch.equal(rollout.storage.log_probs, before), "the learner's rollout changed"
        result = rollout.storage.all_obs()[IMAGE].clone(), before, rollout.lag
        self.source.release()
        return result


def test_rollouts_do_not_depend_on_timing() -> None:
    quick_env, quick_learner = Setup(True, delay=0.0), Setup(True, delay=0.003)
    for index in range(5):
        one = quick_env.update(0.3, seconds=0.02)
        two = quick_learner.update(0.3, seconds=0.0)
        assert torch.equal(one[0], two[0])
        assert torch.equal(one[1], two[1])
        assert one[2] == two[2] == (0 if index == 0 else 1)
    for setup in (quick_env, quick_learner):
        setup.source.close()
        assert len(setup.env.threads) == 1
        assert threading.current_thread().name not in setup.env.threads


def test_a_rollout_comes_from_the_policy_of_the_previous_update() -> None:
    overlapped, serial = Setup(True), Setup(False)
    amounts = [0.5, -0.2, 0.4, 0.3]
    for index, amount in enumerate(amounts):
        obs, log_probs, _ = overlapped.update(amount)
        rollout = serial.source.take()
        assert torch.equal(log_probs, rollout.storage.log_probs)
        assert torch.equal(obs, rollout.storage.all_obs()[IMAGE])
        serial.source.release()
        if index > 0:
            serial.teach(amounts[index - 1])
    overlapped.source.close()


def test_observations_follow_each_other_across_storages() -> None:
    setup = Setup(True)
    seen = torch.cat([setup.update(0.0)[0][:, 0, 0] for _ in range(4)])
    assert seen.tolist() == list(range(4 * STEPS))
    setup.source.close()


def test_an_error_of_the_collector_is_raised_with_its_own_traceback() -> None:
    setup = Setup(True, fail_at=STEPS + 1)
    setup.update(0.0)
    with pytest.raises(RuntimeError, match="environment 1 fell over") as caught:
        setup.update(0.0)
    assert "step_into" in [entry.name for entry in caught.traceback]
    assert setup.source.abandon()
    setup.env.fail_at = -1
    assert setup.update(0.0)[2] == 0
    setup.source.close()


def test_a_pending_rollout_is_part_of_the_saved_state() -> None:
    setup = Setup(True)
    for amount in (0.5, 0.1):
        setup.update(amount)
    state = setup.source.state_dict()
    state = {name: _copied(value) for name, value in state.items()}
    copy = Setup(True)
    copy.model.load_state_dict(setup.model.state_dict())
    copy.generator.set_state(setup.generator.get_state())
    copy.env.steps = setup.env.steps
    copy.collector.state = setup.collector.state
    copy.source.load_state_dict(state)
    for amount in (0.2, 0.7, -0.3):
        one, two = setup.update(amount), copy.update(amount)
        assert torch.equal(one[0], two[0])
        assert torch.equal(one[1], two[1])
        assert one[2] == two[2] == 1
    setup.source.close()
    copy.source.close()


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(part) for name, part in value.items()}
    return value.clone() if isinstance(value, Tensor) else value


def test_the_snapshot_shares_no_memory_with_the_network() -> None:
    setup = Setup(True)
    assert not any(parameter.requires_grad for parameter in setup.collector.model.parameters())
    own = {parameter.data_ptr() for parameter in setup.model.parameters()}
    assert own.isdisjoint(p.data_ptr() for p in setup.collector.model.parameters())
    setup.source.close()
