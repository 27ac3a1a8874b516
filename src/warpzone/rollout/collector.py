"""Collecting a rollout with the present policy, in the same thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from warpzone.models.actor_critic import ActorCritic, Obs
from warpzone.rollout.action_override import ActionOverride
from warpzone.rollout.storage import RolloutStorage

Info = dict[str, Any]


class RolloutEnv(Protocol):
    """What a collector needs of an environment: `MarioVectorEnv`, or a toy in tests.

    Episodes follow each other within a step (same-step autoreset); `info["final_obs"]` then shows
    how those that ended looked at their end.
    """

    num_envs: int
    single_observation_space: Any

    def reset(self, *, seed: int | None = None) -> tuple[Any, Info]:
        """Begins an episode in every lane."""

    def step_into(
        self,
        actions: NDArray[np.int64],
        obs: Any,
        reward: NDArray[np.float32],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
    ) -> Info:
        """Steps every lane and writes into the given arrays."""


@dataclass
class CollectTimes:
    """Seconds of one rollout by what they were spent on."""

    environment: float = 0.0
    inference: float = 0.0
    total: float = 0.0


@dataclass
class Collector:
    """Fills storage with steps that the policy takes.

    Attributes:
        env: The lanes.
        model: The policy; read, never changed.
        storage: What is filled.
        infer: Runs the model on a batch in the host's memory and brings logits and values back
            there; autocast and device are its business.
        observers: Called after every step with info and which lanes ended.
        generator: Draws the actions.
        pilot: Takes the controls of lanes now and then.
        patience: An episode that is cut after so many frames without progress is lost: nothing
            more is to be expected of it. 0 means that there is always hope.
        state: The network's memory; it stays where the network is.
    """

    env: RolloutEnv
    model: ActorCritic
    storage: RolloutStorage
    generator: torch.Generator
    infer: Callable[[Obs, Tensor, Tensor], Any]
    observers: list[Callable[[Info, NDArray[np.bool_]], None]] = field(default_factory=list)
    override: ActionOverride | None = None
    patience: int = 0
    state: Tensor = field(init=False)

    def begin(self, seed: int | None) -> None:
        """Resets every lane."""
        obs, _ = self.env.reset(seed=seed)
        self.storage.put_first(obs)
        self.storage.first[0] = True
        self.state = self.model.initial_state(self.storage.lanes)

    @torch.inference_mode()
    def collect(self) -> CollectTimes:
        """Takes as many steps as storage holds."""
        storage, times, start = self.storage, CollectTimes(), time.perf_counter()
        self.model.draw_noise(self.generator)
        storage.state.copy_(self.state)
        for t in range(storage.steps):
            began = time.perf_counter()
            decision = self.infer(storage.obs(t), self.state, storage.first[t])
            actions = sample(decision.logits, self.generator)
            if self.override is not None:
                forced = self.override.apply(actions.numpy(), storage.first[t].numpy())
                storage.forced[t] = torch.from_numpy(forced)
            storage.actions[t] = actions
            log_probs = torch.log_softmax(decision.logits, -1)
            storage.log_probs[t] = log_probs.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
            storage.values[t] = decision.values
            self.state = decision.state
            chosen = time.perf_counter()
            info = self.env.step_into(actions.numpy(), *storage.step_targets(t))
            stepped = time.perf_counter()
            times.inference += chosen - began
            times.environment += stepped - chosen
            ended = storage.terminated[t] | storage.truncated[t]
            storage.first[t + 1] = ended
            if "progress" in info:  # games that have none make none
                storage.put_reached(t, info["progress"])
            if bool(storage.truncated[t].any()):
                self._value_cut_states(t, info)
            for observe in self.observers:
                observe(info, ended.numpy())
        began = time.perf_counter()
        last = self.infer(storage.obs(storage.steps), self.state, storage.first[storage.steps])
        self._fill_next_values(last.values)
        now = time.perf_counter()
        times.inference += now - began
        times.total = now - start
        return times

    def _value_cut_states(self, t: int, info: Info) -> None:
        """A cut episode is worth what the critic says of the state in which it was cut.

        One that was stuck is worth nothing, whatever the critic hopes for: it does not see that
        Mario has been here for long, or walks in the circles of a maze.
        """
        lanes = self.storage.truncated[t].nonzero().squeeze(1)
        final = info["final_obs"]
        obs: Obs = (
            (_rows(final["tiles"], lanes), _rows(final["features"], lanes))
            if isinstance(final, dict)
            else _rows(final, lanes)
        )
        going_on = torch.zeros(len(lanes), dtype=torch.bool)
        decision = self.infer(obs, self.state[lanes.to(self.state.device)], going_on)
        values = decision.values
        if self.patience > 0:
            stuck = torch.from_numpy(info["stagnation"][lanes.numpy()] >= self.patience)
            values = values.masked_fill(stuck, 0.0)
        self.storage.next_values[t, lanes] = values

    def _fill_next_values(self, last: Tensor) -> None:
        storage = self.storage
        following = torch.cat([storage.values[1:], last.unsqueeze(0)])
        storage.next_values.copy_(torch.where(storage.truncated, storage.next_values, following))


def sample(logits: Tensor, generator: torch.Generator) -> Tensor:
    """Draws an action from each distribution (the Gumbel way, which needs no normalising)."""
    noise = torch.empty_like(logits).exponential_(generator=generator).log_().neg_()
    return (logits + noise).argmax(-1)


def _rows(array: NDArray[np.uint8], lanes: Tensor) -> Tensor:
    return torch.from_numpy(array[lanes.numpy()])
