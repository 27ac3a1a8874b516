"""Where the learner's rollouts come from: collected on demand, or while the learner works.

Overlapped, a thread collects the next rollout with a copy of the policy while the learner works on
the present one. The copy is made when a rollout is launched and belongs to the thread alone, so no
lock is held and nothing depends on timing: update k always learns from a rollout that was collected
with the policy after update k - 2 (the first two with the initial policy). The stored
log-probabilities correct for that one update (PPO's ratios, V-trace's importance weights).
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
    """A rollout and how it was collected.

    Attributes:
        storage: The steps; they belong to the caller until it calls `release`.
        times: Seconds of collecting.
        lag: Updates between the policy that collected it and the present one.
        learner_idle: Seconds that the caller waited for it.
        collector_idle: Seconds without collecting before it.
    """

    storage: RolloutStorage
    times: CollectTimes
    lag: int
    learner_idle: float
    collector_idle: float


class Source(Protocol):
    """Supplies a trainer with rollouts. Between `take` and `launch` no environment steps."""

    def take(self) -> Rollout:
        """Returns the next rollout; errors of its collection are raised here."""

    def launch(self) -> None:
        """Allows the following rollout: policy and environments are ready for it."""

    def release(self) -> None:
        """Gives the taken rollout back."""

    def wait(self) -> None:
        """Waits until no environment steps, so that the state can be saved."""

    def abandon(self) -> bool:
        """Forgets an error; returns False if a complete rollout waits to be taken.

        Otherwise the environments stopped in the middle of a rollout, and the next one must begin
        with their present observations.
        """

    def close(self) -> None:
        """Stops collecting."""

    def state_dict(self) -> dict[str, Any]:
        """What the next rollouts depend on, besides environments and random streams."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores what `state_dict` returned."""


class SerialSource:
    """Collects in the caller's thread, with the present policy."""

    def __init__(self, collector: RolloutCollector):
        """Takes the collector; nothing is collected yet."""
        self._collector = collector
        self._finished = time.perf_counter()

    def take(self) -> Rollout:
        """Collects."""
        began = time.perf_counter()
        times = self._collector.collect()
        idle, self._finished = began - self._finished, time.perf_counter()
        return Rollout(self._collector.storage, times, 0, self._finished - began, idle)

    def launch(self) -> None:
        """Does nothing: the policy is about to change."""

    def release(self) -> None:
        """Lets the next rollout begin where this one ended."""
        self._collector.storage.roll_over()

    def wait(self) -> None:
        """Does nothing: environments step only inside `take`."""

    def abandon(self) -> bool:
        """Always true."""
        return True

    def close(self) -> None:
        """Does nothing."""

    def state_dict(self) -> dict[str, Any]:
        """What the next rollout begins with."""
        return {"observations": self._collector.storage.first_obs_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores what `state_dict` returned; of a pending rollout only its end."""
        if "pending" in state:
            self._collector.storage.load_state_dict(state["pending"])
            self._collector.storage.roll_over()
        else:
            self._collector.storage.load_first_obs(state["observations"])


class OverlappedSource:
    """Collects the next rollout in a thread while the caller learns from the present one."""

    def __init__(self, collector: RolloutCollector, model: ActorCritic, spare: RolloutStorage):
        """Starts the thread.

        Args:
            collector: Its model must be a copy that nothing else changes; see `snapshot_of`.
            model: The network that learns.
            spare: A second storage like the collector's.
        """
        self._collector, self._model, self._spare = collector, model, spare
        # Torch keeps one cache of converted weights for all threads and clears it whenever a thread
        # leaves its outermost autocast. Done in the middle of the learner's pass, that would change
        # how gradients are rounded, so this thread never leaves.
        self._thread = ThreadPoolExecutor(
            1, thread_name_prefix="collector", initializer=torch.autocast_increment_nesting
        )
        self._pending: Future[CollectTimes] | None = None
        self._finished = time.perf_counter()
        self._collector_idle = 0.0
        self._lag = 0

    def take(self) -> Rollout:
        """Waits for the pending rollout; the first one is collected now."""
        began = time.perf_counter()
        if self._pending is None:
            self._submit()
            self._lag = 0
        assert self._pending is not None
        pending, self._pending = self._pending, None
        times = pending.result()
        # Noisy heads: the rollout must be evaluated with the noise that it was collected with.
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
        """Does nothing: the storage is written to again only after the next `launch`."""

    def wait(self) -> None:
        """Waits for the pending rollout; `take` raises its errors."""
        if self._pending is not None:
            self._pending.exception()

    def abandon(self) -> bool:
        """Keeps a pending rollout that is complete, and forgets one that failed."""
        self.wait()
        error = None if self._pending is None else self._pending.exception()
        if error is not None:
            # Another error ends the run; this one must not be lost with its rollout.
            _log.warning("the collector failed as well: %s", error, exc_info=error)
            self._pending = None
        return self._pending is None

    def close(self) -> None:
        """Waits for the thread."""
        self._thread.shutdown(wait=True)

    def state_dict(self) -> dict[str, Any]:
        """The pending rollout, or what the next one begins with."""
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
        """Restores what `state_dict` returned, also that of a serial run."""
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
    """A copy of a network that only chooses actions."""
    snapshot = copy.deepcopy(model)
    snapshot.requires_grad_(False)
    return snapshot


def copy_weights(source: nn.Module, target: nn.Module) -> None:
    """Copies parameters and buffers to a network of the same shape."""
    _copy_each(source.parameters(), target.parameters())
    _copy_each(source.buffers(), target.buffers())


@torch.no_grad()
def _copy_each(sources: Iterable[Tensor], targets: Iterable[Tensor]) -> None:
    for source, target in zip(sources, targets, strict=True):
        target.copy_(source)
