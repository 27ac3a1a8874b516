"""Collects rollouts with the current policy."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from warpzone.models.actor_critic import ActorCritic, Decision, gumbel_noise
from warpzone.models.tree import Arrays, Tree
from warpzone.rollout.action_override import ActionOverride
from warpzone.rollout.rollout_env import Info, RolloutEnv, StepInfo
from warpzone.rollout.storage import RolloutStorage

Infer = Callable[[Tree, Tensor, Tensor], Decision]
"""Runs a network on observations, state and `first`; returns logits and values on the host."""


class StepObserver(Protocol):
    """Called after every step."""

    def __call__(self, info: Info, rewards: NDArray[np.float32], ended: NDArray[np.bool_]) -> None:
        """Receives the info of the step just taken, its rewards and which episodes ended."""


class StepSignals(Protocol):
    """Signals of the environment that learning needs besides rewards."""

    hopeless_value: float
    """Value of a truncated episode that has no future."""

    def begin(self) -> None:
        """Called after a reset of all environments."""

    def discount_exponents(self, info: Info, ended: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Returns the exponents of the additional discount for the step just taken."""

    def has_no_future(self, info: Info) -> NDArray[np.bool_]:
        """Returns where a truncated episode would not have earned further reward."""


@dataclass
class CollectTimes:
    """Seconds spent on each part of collecting a rollout."""

    environment: float = 0.0
    inference: float = 0.0
    total: float = 0.0


class RolloutCollector(Protocol):
    """Interface of collectors.

    Attributes:
        env: Environments to step.
        model: Policy; never modified.
        storage: Storage for the next rollout.
        state: Recurrent state of the policy.
    """

    env: RolloutEnv
    model: ActorCritic
    storage: RolloutStorage
    state: Tensor

    def begin(self, seed: int | None) -> None:
        """Resets all environments."""

    def put_first(self, obs: Arrays, first: NDArray[np.bool_]) -> None:
        """Sets the observations that the next rollout starts with."""

    def collect(self) -> CollectTimes:
        """Collects a rollout into the storage."""

    def state_dict(self) -> dict[str, Any]:
        """Returns the state that the collector keeps between rollouts."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""


class Collector:
    """Steps the environments with the policy, all at once, and fills the storage."""

    def __init__(
        self,
        env: RolloutEnv,
        model: ActorCritic,
        storage: RolloutStorage,
        generator: torch.Generator,
        infer: Infer,
        *,
        observers: Sequence[StepObserver] = (),
        override: ActionOverride | None = None,
        signals: StepSignals | None = None,
    ):
        """Creates the collector; call `begin` before the first rollout.

        Args:
            env: Environments to step.
            model: Policy; never modified.
            storage: Storage for the rollout.
            generator: Random generator that samples actions.
            infer: Runs the model on a batch in host memory; handles autocast and device.
            observers: Called after every step.
            override: Replaces some actions of the policy.
            signals: Discount exponents and hopeless truncations; none by default.
        """
        self.env, self.model, self.storage = env, model, storage
        self.state = model.initial_state(storage.num_envs)
        self._generator, self._infer, self._observers = generator, infer, tuple(observers)
        self._override, self._signals = override, signals

    def begin(self, seed: int | None) -> None:
        """Resets all environments."""
        obs, _ = self.env.reset(seed=seed)
        if self._signals is not None:
            self._signals.begin()
        self.put_first(obs, np.ones(self.storage.num_envs, np.bool_))
        self.state = self.model.initial_state(self.storage.num_envs)

    def put_first(self, obs: Arrays, first: NDArray[np.bool_]) -> None:
        """Sets the observations that the next rollout starts with."""
        self.storage.put_first(obs)
        self.storage.first[0] = torch.from_numpy(first)

    @torch.inference_mode()
    def collect(self) -> CollectTimes:
        """Collects a rollout into the storage."""
        storage, times, start = self.storage, CollectTimes(), time.perf_counter()
        self.model.draw_noise(self._generator)
        storage.state.copy_(self.state)
        for t in range(storage.steps):
            began = time.perf_counter()
            actions = self._choose(t)
            chosen = time.perf_counter()
            step = self.env.step_into(actions, *storage.step_targets(t))
            times.environment += time.perf_counter() - chosen
            times.inference += chosen - began
            self._record(t, step)
        began = time.perf_counter()
        last = self._infer(storage.obs(storage.steps), self.state, storage.first[storage.steps])
        self._fill_next_values(last.values)
        now = time.perf_counter()
        times.inference += now - began
        times.total = now - start
        return times

    def state_dict(self) -> dict[str, Any]:
        """The recurrent state."""
        return {"memory": self.state}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self.state = state["memory"].to(self.state.device)

    def _choose(self, t: int) -> NDArray[np.int64]:
        """Samples actions and stores them with their log-probabilities and the values."""
        storage = self.storage
        decision = self._infer(storage.obs(t), self.state, storage.first[t])
        actions = sample(decision.logits, self._generator)
        if self._override is not None:
            overridden = self._override.apply(actions.numpy(), storage.first[t].numpy())
            storage.overridden[t] = torch.from_numpy(overridden)
        storage.actions[t] = actions
        log_probs = torch.log_softmax(decision.logits, -1)
        storage.log_probs[t] = log_probs.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
        storage.values[t] = decision.values
        self.state = decision.state
        return actions.numpy()

    def _record(self, t: int, step: StepInfo) -> None:
        """Stores the results of a step and calls the observers."""
        storage = self.storage
        ended = storage.terminated[t] | storage.truncated[t]
        storage.first[t + 1] = ended
        if self._signals is not None:
            exponents = self._signals.discount_exponents(step.taken, ended.numpy())
            storage.discount_exponents[t] = torch.from_numpy(exponents)
        if bool(storage.truncated[t].any()):
            assert step.final_obs is not None
            self._value_truncated(t, step.final_obs, step.taken)
        for observe in self._observers:
            observe(step.taken, storage.rewards[t].numpy(), ended.numpy())

    def _value_truncated(self, t: int, final_obs: Arrays, info: Info) -> None:
        """Bootstraps truncated episodes from their final state.

        Hopeless truncations get a value of their own instead: the critic does not see how long an
        episode has made no progress.
        """
        envs = self.storage.truncated[t].nonzero().squeeze(1)
        rows = envs.numpy()
        obs = {name: torch.from_numpy(array[rows]) for name, array in final_obs.items()}
        first = torch.zeros(len(envs), dtype=torch.bool)
        values = self._infer(obs, self.state[envs.to(self.state.device)], first).values
        if self._signals is not None:
            hopeless = torch.from_numpy(self._signals.has_no_future(info)[rows])
            values = values.masked_fill(hopeless, self._signals.hopeless_value)
        self.storage.next_values[t, envs] = values

    def _fill_next_values(self, last: Tensor) -> None:
        storage = self.storage
        following = torch.cat([storage.values[1:], last.unsqueeze(0)])
        storage.next_values.copy_(torch.where(storage.truncated, storage.next_values, following))


def sample(logits: Tensor, generator: torch.Generator) -> Tensor:
    """Samples an action from each distribution with the Gumbel-max trick."""
    return (logits + gumbel_noise(logits, generator)).argmax(-1)
