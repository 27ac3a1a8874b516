"""Where the learner's rollouts come from: collected when asked for, or while it learns.

Overlapped, the next rollout is collected by a thread with a copy of the policy while the learner
works on the present one. The copy is made when a rollout is launched and is nobody else's, so that
no lock is held and nothing depends on timing: what update k learns from was always collected with
the policy after update k - 2 (the first two with the untaught one). That one update is corrected by
the stored log-probabilities (PPO's ratios, V-trace's importance weights).
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
from warpzone.rollout.collector import Collector, CollectTimes
from warpzone.rollout.storage import RolloutStorage

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Rollout:
    """A rollout and how it came to be.

    Attributes:
        storage: What was collected; the caller's until it calls `release`.
        times: Seconds of collecting.
        lag: Updates between the policy that collected it and the present one.
        learner_idle: Seconds that the caller waited for it.
        collector_idle: Seconds that nothing was collected before it.
    """

    storage: RolloutStorage
    times: CollectTimes
    lag: int
    learner_idle: float
    collector_idle: float


class Source(Protocol):
    """What a trainer takes its rollouts from. Between `take` and `launch` no game moves."""

    def take(self) -> Rollout:
        """Returns the next rollout; what went wrong while it was collected is raised here."""

    def launch(self) -> None:
        """The policy and everything about the games is ready for the rollout after this one."""

    def release(self) -> None:
        """The rollout that was taken is not needed any more."""

    def settle(self) -> None:
        """Waits until no game moves, for the state to be saved."""

    def abandon(self) -> bool:
        """Forgets what went wrong; False when a whole rollout waits to be taken.

        Otherwise games were left in the middle of one, and the next must begin with what they see
        now.
        """

    def close(self) -> None:
        """Ends what was started."""

    def state_dict(self) -> dict[str, Any]:
        """What the next rollouts depend on, besides games and random streams."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Takes what `state_dict` gave."""


class SerialSource:
    """Collects in the caller's thread, with the policy as it is."""

    def __init__(self, collector: Collector):
        """Takes the collector; nothing happens yet."""
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

    def settle(self) -> None:
        """Does nothing: games move only inside `take`."""

    def abandon(self) -> bool:
        """Always true."""
        return True

    def close(self) -> None:
        """Does nothing."""

    def state_dict(self) -> dict[str, Any]:
        """What the next rollout begins with."""
        return {"observations": self._collector.storage.first_obs_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Takes what `state_dict` gave; of an overlapped run's pending rollout only the end."""
        if "pending" in state:
            self._collector.storage.load_state_dict(state["pending"])
            self._collector.storage.roll_over()
        else:
            self._collector.storage.load_first_obs(state["observations"])


class OverlappedSource:
    """Collects the next rollout in a thread while the caller learns from the present one."""

    def __init__(self, collector: Collector, model: ActorCritic, spare: RolloutStorage):
        """Starts the thread.

        Args:
            collector: Its model must be a copy that nobody else changes, see `snapshot_of`.
            model: What is taught.
            spare: A second storage like the collector's.
        """
        self._collector, self._model, self._spare = collector, model, spare
        # Torch keeps one cache of converted weights for all threads and empties it whenever one
        # of them leaves its outermost autocast. Were this thread to do so in the middle of the
        # learner's pass, gradients would be rounded otherwise; it never leaves.
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
        # The rollout's noise, for noisy heads: it must be judged by the policy that it came from.
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

    def settle(self) -> None:
        """Waits for the pending rollout; what went wrong in it stays for `take` to raise."""
        if self._pending is not None:
            self._pending.exception()

    def abandon(self) -> bool:
        """Keeps a pending rollout that is whole, and forgets one that failed."""
        self.settle()
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
        self.settle()
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
        """Takes what `state_dict` gave, also that of a serial run."""
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
    """A copy of a policy that only chooses actions."""
    twin = copy.deepcopy(model)
    twin.requires_grad_(False)
    return twin


def copy_weights(source: nn.Module, target: nn.Module) -> None:
    """Gives a network the numbers of another of the same shape."""
    _copy_each(source.parameters(), target.parameters())
    _copy_each(source.buffers(), target.buffers())


@torch.no_grad()
def _copy_each(sources: Iterable[Tensor], targets: Iterable[Tensor]) -> None:
    for source, target in zip(sources, targets, strict=True):
        target.copy_(source)
