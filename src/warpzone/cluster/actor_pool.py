"""Actors of a run: kept busy with at most two rollouts each, and replaced when they die."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import RayTaskError

from warpzone.cluster.losses import LOSSES
from warpzone.cluster.options import ClusterOptions
from warpzone.cluster.played_rollout import PlayedRollout, Policy
from warpzone.cluster.policy_board import RemoteActor, start_board
from warpzone.config import TrainConfig
from warpzone.errors import ClusterError

_log = logging.getLogger(__name__)

IN_FLIGHT = 2
"""Rollouts per actor that are being played, or wait for the learner."""
_POLL_SECONDS = 1.0
_SIZE_SECONDS = 5.0  # Between two looks at the size of the cluster.
_WARN_SECONDS = 60.0
_KNOWLEDGE_INTERVAL = 32  # Rollouts between two requests for what the curriculum has learned.

MakeConfig = Callable[[int], TrainConfig]
"""Returns the configuration of the actor with a number."""


@dataclass
class ActorState:
    """An actor and what it is doing.

    Attributes:
        number: Number of the actor, never used again after its death.
        handle: Ray's handle.
        running: Whether its process runs.
        rollouts: Number of rollouts that were not taken yet.
    """

    number: int
    handle: Any
    running: bool = False
    rollouts: int = 0


@dataclass
class ActorCounts:
    """Events since the session began.

    Attributes:
        losses: Actors that died and were replaced.
        lost_rollouts: Rollouts that died with them.
        dropped: Rollouts that were too old to learn from.
    """

    losses: int = 0
    lost_rollouts: int = 0
    dropped: int = 0


class ActorPool:
    """Supplies rollouts of all actors, in the order in which they are finished."""

    def __init__(self, options: ClusterOptions, make_config: MakeConfig):
        """Creates the pool without actors; `publish` starts them.

        Args:
            options: Number of actors and age of rollouts.
            make_config: Returns the configuration of each actor.
        """
        self._options, self._make_config = options, make_config
        self._actors: dict[int, ActorState] = {}
        # Calls in the order in which they were made: of those that are ready, the oldest is taken
        # first, so no actor has to wait for the others.
        self._calls: dict[Any, ActorState] = {}
        self._policy: Any = None
        self._board: Any = None
        self._version = self._steps = 0
        self._created = self._rollouts = self._deaths_in_a_row = 0
        self._wanted, self._sized = 0, -_SIZE_SECONDS
        self.counts = ActorCounts()
        self.knowledge: dict[str, Any] | None = None

    @property
    def running(self) -> int:
        """Number of actors whose process runs."""
        return sum(actor.running for actor in self._actors.values())

    def publish(self, policy: Policy, steps: int) -> None:
        """Makes weights available to all actors, and gives work to those with a free place.

        Args:
            policy: Current weights, put into the object store once.
            steps: Environment steps of the run so far.
        """
        self._policy, self._version, self._steps = ray.put(policy), policy.version, steps
        if self._board is None:
            self._board = start_board([self._policy])
        else:
            self._board.put.remote([self._policy])
        self._resize()
        for actor in self._actors.values():
            self._fill(actor)

    def take(self) -> PlayedRollout:
        """Waits for the next rollout that is not too old.

        Raises:
            ClusterError: An actor failed with an error, or actors die again and again.
        """
        warned = time.monotonic()
        while True:
            self._resize()
            ready, _ = ray.wait(list(self._calls), num_returns=1, timeout=_POLL_SECONDS)
            if not ready and not self.running and time.monotonic() - warned > _WARN_SECONDS:
                warned = time.monotonic()
                _log.warning("no actor is running: the cluster has no free CPUs for them")
            for ref in ready:
                played = self._receive(self._calls.pop(ref), ref)
                if played is not None:
                    return played

    def close(self) -> None:
        """Ends all actors."""
        for actor in self._actors.values():
            ray.kill(actor.handle)
        if self._board is not None:
            ray.kill(self._board)
        self._actors.clear()
        self._calls.clear()
        self._policy = self._board = None

    def _receive(self, actor: ActorState, ref: Any) -> PlayedRollout | None:
        """Handles a finished call; returns a rollout if it can be learned from."""
        try:
            result = ray.get(ref)
        except RayTaskError as error:
            raise ClusterError(f"actor {actor.number} failed: {error.cause}") from error
        except LOSSES as error:
            self._bury(actor, error)
            return None
        if not actor.running:
            actor.running = True
            self._fill(actor)
            return None
        actor.rollouts -= 1
        self._deaths_in_a_row = 0
        played: PlayedRollout = result
        if played.knowledge is not None:
            self.knowledge = played.knowledge
        if self._version - played.version > self._options.max_lag:
            self.counts.dropped += 1
            self._fill(actor)
            return None
        return played

    def _fill(self, actor: ActorState) -> None:
        while actor.running and actor.rollouts < IN_FLIGHT:
            self._rollouts += 1
            actor.rollouts += 1
            asks = self._rollouts % _KNOWLEDGE_INTERVAL == 0
            self._calls[actor.handle.play.remote(self._board, self._steps, asks)] = actor

    def _bury(self, actor: ActorState, error: Exception) -> None:
        del self._actors[actor.number]
        ray.kill(actor.handle)  # It may be alive and merely unreachable.
        self._calls = {ref: owner for ref, owner in self._calls.items() if owner is not actor}
        self.counts.losses += 1
        self.counts.lost_rollouts += actor.rollouts
        self._deaths_in_a_row += 1
        reason = str(error).strip().partition("\n")[0]
        _log.warning("actor %d is lost and will be replaced: %s", actor.number, reason)
        if self._deaths_in_a_row > 3 * (self._wanted + 1):
            raise ClusterError(
                f"{self._deaths_in_a_row} actors in a row died before they finished a rollout; "
                f"the last: {reason}"
            )

    def _resize(self) -> None:
        """Creates missing actors; those that do not fit wait until machines join."""
        if time.monotonic() - self._sized >= _SIZE_SECONDS:
            self._sized = time.monotonic()
            cpus = int(ray.cluster_resources().get("CPU", 0))
            fitting = max(1, cpus // self._options.cpus_per_actor)
            self._wanted = self._options.actors or fitting
        while len(self._actors) < self._wanted:
            self._create()

    def _create(self) -> None:
        number, self._created = self._created, self._created + 1
        remote = ray.remote(RemoteActor).options(
            num_cpus=self._options.cpus_per_actor, max_restarts=0, scheduling_strategy="SPREAD"
        )
        handle = remote.remote(number, self._make_config(number), self.knowledge)
        actor = self._actors[number] = ActorState(number, handle)
        self._calls[handle.ready.remote()] = actor
