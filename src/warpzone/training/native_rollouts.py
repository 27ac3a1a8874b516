"""Collects whole rollouts in native code.

The player fills the storage without returning to Python. The work that step-by-step collection does
between steps (signals, episodes, curriculum) is done afterwards, step by step in the same order,
from the player's recordings.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from warpzone import _native
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.sparse import ACTIVE
from warpzone.models.tree import Arrays
from warpzone.rollout.action_override import ActionOverride
from warpzone.rollout.collector import CollectTimes, StepObserver, StepSignals
from warpzone.rollout.rollout_env import Info, RolloutEnv
from warpzone.rollout.storage import RolloutStorage
from warpzone.training.native_policy import NativePolicy

NEW_PLACES = "new_places"
"""Info field with the places that a step entered, as recorded by the player."""
_MAX_SEED = 2**63 - 1


@dataclass
class _Buffers:
    """Arrays that the player writes besides the storage."""

    values: NDArray[np.float32]
    final_values: NDArray[np.float32]
    progress: NDArray[np.int32]
    stagnation: NDArray[np.int32]
    forced: NDArray[np.int16]
    random: NDArray[np.uint64]

    @classmethod
    def empty(cls, steps: int, num_envs: int) -> _Buffers:
        """Allocates the arrays."""
        shape = (steps, num_envs)
        return cls(
            values=np.zeros((steps + 1, num_envs), np.float32),
            final_values=np.zeros(shape, np.float32),
            progress=np.zeros(shape, np.int32),
            stagnation=np.zeros(shape, np.int32),
            forced=np.zeros(shape, np.int16),
            random=np.zeros(num_envs, np.uint64),
        )


class NativeCollector:
    """Plays whole rollouts in native code and fills the storage."""

    def __init__(
        self,
        env: RolloutEnv,
        model: ActorCritic,
        storage: RolloutStorage,
        policy: NativePolicy,
        generator: torch.Generator,
        *,
        observers: Sequence[StepObserver],
        override: ActionOverride,
        signals: StepSignals,
        after_rollout: Callable[[], None],
    ):
        """Creates the collector; call `begin` before the first rollout.

        Args:
            env: Environments of the player; this class only resets them.
            model: Policy; never modified.
            storage: Storage for the rollout.
            policy: Native copy of the model, with its player.
            generator: Random generator that seeds the action streams and samples noise.
            observers: Called for every step, after the rollout.
            override: Replaces some actions of the policy; must not have a script.
            signals: Discount exponents and hopeless truncations.
            after_rollout: Called after the observers have seen all steps.
        """
        self.env, self.model, self.storage = env, model, storage
        self.state = model.initial_state(storage.num_envs)
        self._policy, self._generator = policy, generator
        self._observers, self._override, self._signals = tuple(observers), override, signals
        self._after_rollout = after_rollout
        self._buffers = _Buffers.empty(storage.steps, storage.num_envs)
        self._arrays: dict[int, _native.RolloutArrays] = {}

    def begin(self, seed: int | None) -> None:
        """Resets all environments."""
        obs, _ = self.env.reset(seed=seed)
        self._signals.begin()
        self.put_first(obs, np.ones(self.storage.num_envs, np.bool_))
        self.seed_streams()

    def seed_streams(self) -> None:
        """Creates a new random stream for every environment."""
        seeds = torch.randint(_MAX_SEED, (self.storage.num_envs,), generator=self._generator)
        self._buffers.random[:] = seeds.numpy().view(np.uint64)

    def put_first(self, obs: Arrays, first: NDArray[np.bool_]) -> None:
        """Sets the observations that the next rollout starts with.

        The player reads the environments itself; this is for code that reads the storage first.
        """
        target = self.storage.obs_target(0)
        for name in target.keys() - {ACTIVE}:
            np.copyto(target[name], obs[name])
        lists = target[ACTIVE].view(np.uint16)
        self._policy.layout.write(obs["tiles"], obs["features"], lists)
        self.storage.first[0] = torch.from_numpy(first)

    def collect(self) -> CollectTimes:
        """Collects a rollout into the storage."""
        began = time.perf_counter()
        self.model.draw_noise(self._generator)
        self._policy.copy_weights(self.model)
        self._override_actions()
        playing = time.perf_counter()
        self._policy.player.play(self._arrays_of(self.storage))
        played = time.perf_counter()
        self._fill_values()
        for step, info in enumerate(self._infos()):
            self._record(step, info)
        self._after_rollout()
        acting, total = self._policy.player.seconds()
        share = acting / total
        return CollectTimes(
            environment=(played - playing) * (1.0 - share),
            inference=(played - playing) * share + playing - began,
            total=time.perf_counter() - began,
        )

    def _override_actions(self) -> None:
        forced = self._override.take(self.storage.steps)
        self._buffers.forced[:] = forced
        self.storage.overridden.copy_(torch.from_numpy(forced >= 0))

    def _arrays_of(self, storage: RolloutStorage) -> _native.RolloutArrays:
        """Returns a storage as native arrays; with overlap, two storages take turns."""
        if id(storage) not in self._arrays:
            obs = storage.obs_arrays()
            self._arrays[id(storage)] = self._policy.player.arrays(
                storage.steps,
                actions=storage.actions.numpy(),
                log_probs=storage.log_probs.numpy(),
                rewards=storage.rewards.numpy(),
                terminated=storage.terminated.numpy().view(np.uint8),
                truncated=storage.truncated.numpy().view(np.uint8),
                first=storage.first.numpy().view(np.uint8),
                active=obs[ACTIVE].view(np.uint16),
                grids=obs.get("tiles"),
                features=obs.get("features"),
                **vars(self._buffers),
            )
        return self._arrays[id(storage)]

    def _fill_values(self) -> None:
        """Fills in the values before and after every step, including those of final states."""
        storage, values = self.storage, torch.from_numpy(self._buffers.values)
        storage.values.copy_(values[:-1])
        final = torch.from_numpy(self._buffers.final_values)
        storage.next_values.copy_(torch.where(storage.truncated, final, values[1:]))

    def _infos(self) -> Iterator[Info]:
        """Yields the info of every step: all fields at episode ends, else the observed ones."""
        ends = _EndInfos(self._policy.player.ends(), self.storage.num_envs)
        places: dict[int, list[dict[str, Any]]] = {}
        for place in self._policy.player.snapshots():
            places.setdefault(place["step"], []).append(place)
        for step in range(self.storage.steps):
            yield ends.info(step) | {
                "progress": self._buffers.progress[step],
                "stagnation": self._buffers.stagnation[step],
                NEW_PLACES: places.get(step, ()),
            }

    def _record(self, step: int, info: Info) -> None:
        """Stores the results of a step and calls the observers."""
        storage = self.storage
        ended = storage.first[step + 1].numpy()
        exponents = self._signals.discount_exponents(info, ended)
        storage.discount_exponents[step] = torch.from_numpy(exponents)
        if bool(storage.truncated[step].any()):
            hopeless = storage.truncated[step] & torch.from_numpy(self._signals.has_no_future(info))
            storage.next_values[step].masked_fill_(hopeless, self._signals.hopeless_value)
        for observe in self._observers:
            observe(info, storage.rewards[step].numpy(), ended)

    def state_dict(self) -> dict[str, Any]:
        """Returns the random streams of the actions."""
        return {"streams": torch.from_numpy(self._buffers.random.view(np.int64).copy())}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self._buffers.random[:] = state["streams"].numpy().view(np.uint64)


class _EndInfos:
    """Infos of the steps that ended episodes, as arrays with one value per environment."""

    def __init__(self, ends: dict[str, Any], num_envs: int):
        """Stores the player's report; rows are in order of their steps."""
        self._ends, self._num_envs = ends, num_envs

    def info(self, step: int) -> Info:
        """Returns the info of a step; empty if no episode ended."""
        ends = self._ends
        first, last = np.searchsorted(ends["step"], [step, step + 1])
        if first == last:
            return {}
        envs, rows = ends["env"][first:last], slice(first, last)
        numbers = np.zeros((len(_native.INFO_NUMBERS), self._num_envs), np.int32)
        flags = np.zeros((len(_native.INFO_FLAGS), self._num_envs), np.bool_)
        terms = np.zeros((self._num_envs, len(_native.REWARD_TERMS)), np.float32)
        numbers[:, envs] = ends["numbers"][rows].T
        flags[:, envs] = ends["flags"][rows].T != 0
        terms[envs] = ends["terms"][rows]
        names = dict(zip(_native.INFO_NUMBERS, numbers, strict=True))
        return names | dict(zip(_native.INFO_FLAGS, flags, strict=True)) | {"reward_terms": terms}
