"""Sources of rollouts: collected on demand, or concurrently with learning.

With overlap, a thread collects the next rollout with a copy of the policy while the learner works
on the current one. The copy is made when a rollout is launched and is owned by the thread, so no
lock is needed and nothing depends on timing: update k always learns from a rollout collected with
the policy after update k - 2 (the first two with the initial policy). The stored log-probabilities
correct for this lag of one update (PPO's ratios, V-trace's importance weights).
"""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from warpzone.models.actor_critic import ActorCritic
from warpzone.rollout.collector import CollectTimes, RolloutCollector
from warpzone.rollout.storage import RolloutStorage

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Rollout:
    """Rollout with statistics of its collection.

    Attributes:
        storage: Steps of the rollout; owned by the caller until it calls `release`.
        times: Seconds spent on collection.
        lag: Number of updates between the policy that collected the rollout and the current one.
        learner_idle: Seconds that the caller waited for the rollout.
        collector_idle: Seconds that the collector was idle before the rollout.
    """

    storage: RolloutStorage
    times: CollectTimes
    lag: int
    learner_idle: float
    collector_idle: float


class Source(Protocol):
    """Supplies a trainer with rollouts. Environments do not step between `take` and `launch`."""

    def take(self) -> Rollout:
        """Returns the next rollout; raises errors of its collection."""

    def launch(self) -> None:
        """Starts the following rollout: policy and environments are ready for it."""

    def release(self) -> None:
        """Returns ownership of the taken rollout."""

    def wait(self) -> None:
        """Waits until no environment is stepping, so that the state can be saved."""

    def abandon(self) -> bool:
        """Discards an error; returns False if a complete rollout is waiting to be taken.

        Otherwise the environments stopped in the middle of a rollout, and the next rollout must
        start from their current observations.
        """

    def close(self) -> None:
        """Stops collecting."""

    def state_dict(self) -> dict[str, Any]:
        """Returns the state of the next rollouts, without environments and random streams."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""


class SerialSource:
    """Collects in the caller's thread with the current policy."""

    def __init__(self, collector: RolloutCollector):
        """Stores the collector; nothing is collected yet."""
        self._collector = collector
        self._finished = time.perf_counter()

    def take(self) -> Rollout:
        """Collects a rollout."""
        began = time.perf_counter()
        times = self._collector.collect()
        idle, self._finished = began - self._finished, time.perf_counter()
        return Rollout(self._collector.storage, times, 0, self._finished - began, idle)

    def launch(self) -> None:
        """Does nothing: the policy is about to change."""

    def release(self) -> None:
        """Prepares the next rollout to start where this one ended."""
        self._collector.storage.roll_over()

    def wait(self) -> None:
        """Does nothing: environments only step inside `take`."""

    def abandon(self) -> bool:
        """Returns True: a rollout never waits."""
        return True

    def close(self) -> None:
        """Does nothing."""

    def state_dict(self) -> dict[str, Any]:
        """Returns the observations that the next rollout starts with."""
        return {"observations": self._collector.storage.first_obs_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores a state; of a pending rollout, only its end is used."""
        if "pending" in state:
            self._collector.storage.load_state_dict(state["pending"])
            self._collector.storage.roll_over()
        else:
            self._collector.storage.load_first_obs(state["observations"])


class OverlappedSource:
    """Collects the next rollout in a thread while the caller learns from the current one."""

    def __init__(self, collector: RolloutCollector, model: ActorCritic, spare: RolloutStorage):
        """Starts the thread.

        Args:
            collector: Collector whose model is a copy that nothing else modifies; see
                `snapshot_of`.
            model: Network that learns.
            spare: Second storage like the collector's.
        """
        self._collector, self._model, self._spare = collector, model, spare
        # Torch shares one cache of converted weights between all threads and clears it whenever a
        # thread exits its outermost autocast. During the learner's pass, that would change how
        # gradients are rounded, so this thread never exits autocast.
        self._thread = ThreadPoolExecutor(
            1, thread_name_prefix="collector", initializer=torch.autocast_increment_nesting
        )
        self._pending: Future[CollectTimes] | None = None
        self._finished = time.perf_counter()
        self._collector_idle = 0.0
        self._lag = 0

    def take(self) -> Rollout:
        """Waits for the pending rollout; the first rollout is collected now."""
        began = time.perf_counter()
        if self._pending is None:
            self._submit()
            self._lag = 0
        assert self._pending is not None
        pending, self._pending = self._pending, None
        times = pending.result()
        # Noisy heads: the rollout must be evaluated with the noise it was collected with.
        _copy_each(self._collector.model.buffers(), self._model.buffers())
        idle = time.perf_counter() - began
        return Rollout(self._collector.storage, times, self._lag, idle, self._collector_idle)

    def launch(self) -> None:
        """Copies the policy and starts the next rollout, in the other storage."""
        self._spare.continue_from(self._collector.storage)
        self._collector.storage, self._spare = self._spare, self._collector.storage
        self._lag = 1
        self._submit()

    def _submit(self) -> None:
        copy_weights(self._model, self._collector.model)
        self._collector_idle = time.perf_counter() - self._finished
        self._pending = self._thread.submit(self._collect)

    def _collect(self) -> CollectTimes:
        times = self._collector.collect()
        self._finished = time.perf_counter()
        return times

    def release(self) -> None:
        """Does nothing: the storage is only overwritten after the next `launch`."""

    def wait(self) -> None:
        """Waits for the pending rollout; `take` raises its errors."""
        if self._pending is not None:
            self._pending.exception()

    def abandon(self) -> bool:
        """Keeps a pending rollout that is complete, and discards one that failed."""
        self.wait()
        error = None if self._pending is None else self._pending.exception()
        if error is not None:
            # Another error stops the run; this one must still be reported.
            _log.warning("the collector also failed: %s", error, exc_info=error)
            self._pending = None
        return self._pending is None

    def close(self) -> None:
        """Stops the thread."""
        self._thread.shutdown(wait=True)

    def state_dict(self) -> dict[str, Any]:
        """Returns the pending rollout, or the observations that the next one starts with."""
        self.wait()
        storage = self._collector.storage
        if self._pending is None:
            return {"observations": storage.first_obs_state()}
        times = self._pending.result()
        return {
            "pending": storage.state_dict(),
            "lag": self._lag,
            "times": [times.environment, times.inference, times.total],
            "buffers": [buffer.clone() for buffer in self._collector.model.buffers()],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores a state, including that of a serial run."""
        self._pending = None
        if "pending" not in state:
            self._collector.storage.load_first_obs(state["observations"])
            return
        self._collector.storage.load_state_dict(state["pending"])
        _copy_each(state["buffers"], self._collector.model.buffers())
        self._lag = state["lag"]
        self._pending = Future()
        self._pending.set_result(CollectTimes(*state["times"]))


def snapshot_of(model: ActorCritic) -> ActorCritic:
    """Returns a copy of a network for choosing actions."""
    snapshot = copy.deepcopy(model)
    snapshot.requires_grad_(False)
    return snapshot


def copy_weights(source: nn.Module, target: nn.Module) -> None:
    """Copies parameters and buffers to a network of the same architecture."""
    _copy_each(source.parameters(), target.parameters())
    _copy_each(source.buffers(), target.buffers())


@torch.no_grad()
def _copy_each(sources: Iterable[Tensor], targets: Iterable[Tensor]) -> None:
    for source, target in zip(sources, targets, strict=True):
        target.copy_(source)
