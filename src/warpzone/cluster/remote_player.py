"""The learner's player: its rollouts come from actors instead of its own environments."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from warpzone.algorithms.ranks import Ranks
from warpzone.cluster.actor_pool import ActorCounts, ActorPool, MakeConfig
from warpzone.cluster.options import ClusterOptions, actor_config, check_supported
from warpzone.cluster.played_rollout import PlayedRollout, Policy, unpack, weights_of
from warpzone.config import TrainConfig
from warpzone.registry import Wrap
from warpzone.rollout.collector import StepObserver
from warpzone.rollout.sources import Rollout
from warpzone.telemetry.metrics import MetricRow
from warpzone.training.live_feed import LiveFeed
from warpzone.training.player import Player, without_episodes
from warpzone.training.random_streams import RandomStreams
from warpzone.training.timed_env import StepWatch

_log = logging.getLogger(__name__)


class RolloutPool(Protocol):
    """What a learner needs of its actors; see `ActorPool`.

    Attributes:
        counts: Events since the session began.
        knowledge: What the curriculum has learned, if it is known.
    """

    counts: ActorCounts
    knowledge: dict[str, Any] | None

    @property
    def running(self) -> int:
        """Number of actors whose process runs."""

    def publish(self, policy: Policy, steps: int) -> None:
        """Makes weights available to actors."""

    def take(self) -> PlayedRollout:
        """Waits for the next rollout."""

    def close(self) -> None:
        """Ends all actors."""


MakePool = Callable[[ClusterOptions, MakeConfig], RolloutPool]
"""Creates a pool from the options and what makes the configuration of each actor."""


class RemotePlayer(Player):
    """Takes rollouts of actors; the environments of this process are never stepped.

    They describe observations and actions, and a checkpoint says that episodes begin anew.
    """

    def __init__(
        self,
        config: TrainConfig,
        random: RandomStreams,
        ranks: Ranks,
        *,
        options: ClusterOptions,
        make_pool: MakePool = ActorPool,
        worker_logs: Path | None = None,
        wrap: Wrap | None = None,
        observers: Sequence[StepObserver] = (),
        step_watch: StepWatch | None = None,
        live_feed: LiveFeed | None = None,
    ):
        """Creates the network; `begin` starts the actors.

        Args:
            config: Configuration of the run.
            random: Random streams of the run.
            ranks: Ranks that learn together; one.
            options: Number of actors and age of rollouts.
            make_pool: Creates what supplies the rollouts.
            worker_logs: Not used: actors have no worker processes.
            wrap: Not used: actors create the wrapper that the configuration names.
            observers: Not used: actors step in other processes.
            step_watch: Not used.
            live_feed: Not used: the environments of the actors cannot be watched.
        """
        check_supported(config)
        super().__init__(config, random, ranks)
        self._options = options
        self._session = 1
        self._pool = make_pool(options, self._actor_config)
        self._version = self._steps = 0
        self._played: PlayedRollout | None = None

    def _actor_config(self, number: int) -> TrainConfig:
        return actor_config(
            self._config,
            self._options,
            number=number,
            session=self._session,
            native=self.parts.acting.native,
        )

    def begin(self) -> None:
        """Starts the actors of a new run."""
        _log.info("%s", self.parts.acting)
        if self._config.learn.algo == "ppo":
            _log.warning(
                "PPO does not correct the targets for the age of rollouts; use --algo appo"
            )

    def take(self, steps: int) -> Rollout:
        """Waits for the next rollout of any actor."""
        if self._played is None:
            self._publish(steps)
        began = time.perf_counter()
        played = self._played = self._pool.take()
        unpack(played.arrays, self.storage)
        self._steps = steps + self.rollout_size
        waited = time.perf_counter() - began
        return Rollout(
            self.storage, played.times, self._version - played.version, waited, played.idle
        )

    def between_rollouts(self, update: int) -> MetricRow:
        """Reports the episodes of the rollout, and returns metrics of its actor."""
        played, num_envs = self._played, self.parts.env.num_envs
        assert played is not None
        for episode in played.episodes:
            env = played.actor * num_envs + episode.env
            ended = replace(episode, env=env, steps=self._steps)
            self.parts.statistics.add(ended)
            self._ended.append(ended)
        return {**played.metrics, **self._cluster_metrics(played)}

    def _cluster_metrics(self, played: PlayedRollout) -> MetricRow:
        counts, actor = self._pool.counts, played.actor
        lag = self._version - played.version
        return {
            "cluster/actors": self._pool.running,
            "cluster/losses": counts.losses,
            "cluster/lost_rollouts": counts.lost_rollouts,
            "cluster/dropped_rollouts": counts.dropped,
            "cluster/lag_mean": float(lag),
            f"actor/lag/{actor}": lag,
            f"actor/steps_per_second/{actor}": self.rollout_size
            / (played.times.total + played.idle),
        }

    def launch(self) -> None:
        """Does nothing: actors are always busy."""

    def release(self) -> None:
        """Publishes the new weights; the actor whose rollout was learned from gets new work."""
        self._version += 1
        self._publish(self._steps)

    def _publish(self, steps: int) -> None:
        weights = weights_of(self.parts.model)
        self._pool.publish(Policy(self._version, weights, self._config), steps)

    def set_config(self, config: TrainConfig) -> None:
        """Applies changed options of the reward; actors use them from their next rollout on."""
        self._config = config
        self.parts.guidance.set_config(config)

    def abandon(self, seed: int) -> None:
        """Keeps the actors, whose rollouts are independent of an update that failed."""

    def close(self) -> None:
        """Ends the actors."""
        self._pool.close()
        super().close()

    def state_dict(self) -> dict[str, Any]:
        """Returns the statistics and what the curriculum has learned, without episodes."""
        state = super().state_dict() | {"envs": []}
        if self._pool.knowledge is not None:
            state["starts"] = self._pool.knowledge
        return without_episodes(state)

    def load_state_dict(self, state: dict[str, Any], *, steps: int, session: int) -> None:
        """Resumes a run of actors or of one machine; all environments start new episodes."""
        self.begin()
        self.parts.statistics.load_state_dict(state["statistics"])
        self.parts.guidance.load_state_dict(state["guidance"], same_episodes=False)
        self._pool.knowledge = state["starts"]
        self._steps, self._session = steps, session

    def fits(self, state: dict[str, Any]) -> bool:
        """Returns False: the environments belong to the actors, which start anew."""
        return False
