"""Collecting a rollout with the present policy."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from warpzone.models.actor_critic import ActorCritic, Decision
from warpzone.models.tree import Arrays, Tree
from warpzone.rollout.action_override import ActionOverride
from warpzone.rollout.rollout_env import Info, RolloutEnv, StepInfo
from warpzone.rollout.storage import RolloutStorage

Infer = Callable[[Tree, Tensor, Tensor], Decision]
"""Runs a network on observations, recurrent state and `first`; logits and values on the host."""


class StepObserver(Protocol):
    """Sees every step."""

    def __call__(self, info: Info, rewards: NDArray[np.float32], ended: NDArray[np.bool_]) -> None:
        """Takes the info of the step just taken, its rewards and which episodes it ended."""


class StepSignals(Protocol):
    """What learning needs to know of a step besides its reward; the environment's side knows."""

    def begin(self) -> None:
        """Every environment has been reset."""

    def discount_exponents(self, info: Info, ended: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Exponent of the additional discount of the step just taken."""

    def has_no_future(self, info: Info) -> NDArray[np.bool_]:
        """Where a truncated episode would not have earned anything more."""


@dataclass
class CollectTimes:
    """Seconds of one rollout by what they were spent on."""

    environment: float = 0.0
    inference: float = 0.0
    total: float = 0.0


class RolloutCollector(Protocol):
    """Fills storage with steps of the policy.

    Attributes:
        env: The environments.
        model: The policy; it is read, never changed.
        storage: Where the next rollout is written.
        state: Recurrent state of the policy.
    """

    env: RolloutEnv
    model: ActorCritic
    storage: RolloutStorage
    state: Tensor

    def begin(self, seed: int | None) -> None:
        """Resets every environment."""

    def put_first(self, obs: Arrays, first: NDArray[np.bool_]) -> None:
        """Lets the next rollout begin with these observations."""

    def collect(self) -> CollectTimes:
        """Fills the storage."""

    def state_dict(self) -> dict[str, Any]:
        """What the collector itself keeps from rollout to rollout."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores what `state_dict` returned."""


class Collector:
    """Fills storage with steps of the policy, one step of all environments at a time."""

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
        """Assembles the parts; nothing is played yet.

        Args:
            env: The environments.
            model: The policy; it is read, never changed.
            storage: Where the rollout is written.
            generator: Samples the actions.
            infer: Runs the model on a batch in the host's memory; autocast and device are its
                concern.
            observers: Called after every step.
            override: Replaces actions now and then.
            signals: Discount exponents and hopeless truncations; by default there are none.
        """
        self.env, self.model, self.storage = env, model, storage
        self.state = model.initial_state(storage.num_envs)
        self._generator, self._infer, self._observers = generator, infer, tuple(observers)
        self._override, self._signals = override, signals

    def begin(self, seed: int | None) -> None:
        """Resets every environment."""
        obs, _ = self.env.reset(seed=seed)
        if self._signals is not None:
            self._signals.begin()
        self.put_first(obs, np.ones(self.storage.num_envs, np.bool_))
        self.state = self.model.initial_state(self.storage.num_envs)

    def put_first(self, obs: Arrays, first: NDArray[np.bool_]) -> None:
        """Lets the next rollout begin with these observations."""
        self.storage.put_first(obs)
        self.storage.first[0] = torch.from_numpy(first)

    @torch.inference_mode()
    def collect(self) -> CollectTimes:
        """Fills the storage."""
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
        """Restores what `state_dict` returned."""
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
        """Stores what follows from a step, and shows it to the observers."""
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
        """Bootstraps truncated episodes from the state in which they were truncated.

        Where there is no future, the value is zero whatever the critic says: the critic does not
        see for how long an episode has been getting nowhere.
        """
        envs = self.storage.truncated[t].nonzero().squeeze(1)
        rows = envs.numpy()
        obs = {name: torch.from_numpy(array[rows]) for name, array in final_obs.items()}
        first = torch.zeros(len(envs), dtype=torch.bool)
        values = self._infer(obs, self.state[envs.to(self.state.device)], first).values
        if self._signals is not None:
            hopeless = torch.from_numpy(self._signals.has_no_future(info)[rows])
            values = values.masked_fill(hopeless, 0.0)
        self.storage.next_values[t, envs] = values

    def _fill_next_values(self, last: Tensor) -> None:
        storage = self.storage
        following = torch.cat([storage.values[1:], last.unsqueeze(0)])
        storage.next_values.copy_(torch.where(storage.truncated, storage.next_values, following))


def sample(logits: Tensor, generator: torch.Generator) -> Tensor:
    """Samples an action from each distribution, by the Gumbel-max trick."""
    noise = torch.empty_like(logits).exponential_(generator=generator).log_().neg_()
    return (logits + noise).argmax(-1)
