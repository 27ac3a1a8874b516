"""Trainer: plays, learns, counts, and saves or restores its whole state."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from warpzone.algorithms.ranks import Ranks
from warpzone.config import TrainConfig
from warpzone.registry import Wrap
from warpzone.rollout.collector import StepObserver
from warpzone.rollout.storage import RolloutStorage
from warpzone.system.cpu import processor_cores
from warpzone.telemetry.episodes import Episode
from warpzone.telemetry.metrics import MetricRow
from warpzone.training.initial_weights import initial_weights
from warpzone.training.learning import Learning
from warpzone.training.live_feed import LiveFeed
from warpzone.training.pace import speed_row
from warpzone.training.player import Player
from warpzone.training.process_ranks import share_of
from warpzone.training.random_streams import RandomStreams
from warpzone.training.timed_env import StepWatch

MakePlayer = Callable[..., Player]
"""Creates a player, with the arguments of `Player`."""


class Trainer:
    """Trains a policy, one update at a time.

    Attributes:
        player: Turns the network's weights into rollouts.
        learning: Turns rollouts into better weights.
    """

    def __init__(
        self,
        config: TrainConfig,
        *,
        worker_logs: Path | None = None,
        wrap: Wrap | None = None,
        observers: Sequence[StepObserver] = (),
        step_watch: StepWatch | None = None,
        live_feed: LiveFeed | None = None,
        ranks: Ranks | None = None,
        make_player: MakePlayer = Player,
    ):
        """Creates environments, network, collector and learner; call `begin` for a new run.

        Args:
            config: Configuration of the run.
            worker_logs: Folder for the logs of worker processes; a temporary one by default.
            wrap: Wraps the environments in Gymnasium vector wrappers; overrides the wrapper that
                the configuration names.
            observers: Called after every step, before the trainer's own.
            step_watch: Notified when each step of the environments begins and ends.
            live_feed: Writes rollouts for viewers of the run.
            ranks: Ranks that train together; by default there is only one.
            make_player: Creates the player; by default, it plays in this process.
        """
        self.config = config
        self.ranks = ranks or Ranks()
        own = share_of(config, self.ranks)
        self.steps = self.updates = 0
        self.sessions = 1
        self.elapsed = 0.0
        self.random = RandomStreams(own.run.seed)
        torch.set_num_threads(own.run.torch_threads or processor_cores())
        self.player = make_player(
            own,
            self.random,
            self.ranks,
            worker_logs=worker_logs,
            wrap=wrap,
            observers=observers,
            step_watch=step_watch,
            live_feed=live_feed,
        )
        parts = self.player.parts
        self.env, self.envs, self.model = parts.env, parts.envs, parts.model
        self.statistics, self.episodes, self.starts = parts.statistics, parts.episodes, parts.starts
        self.guidance, self.source, self.collector = parts.guidance, parts.source, parts.collector
        self.acting, self.policy, self.autocast = parts.acting, parts.policy, parts.autocast
        self.device, self.precision = parts.device, parts.precision
        self.learning = Learning(config, parts, self.random, self.ranks)
        self.learner, self.optimizer = self.learning.learner, self.learning.optimizer
        self.average, self.replay = self.learning.average, self.learning.replay
        self.distillation = self.learning.distillation
        if config.run.compile:
            parts.compile()

    # One update: collect, log, train.

    def begin(self) -> None:
        """Starts the environments of a new run."""
        weights = initial_weights(self.config)
        if weights is not None:
            self.learning.start_from(weights)
        self.player.begin()

    def update(self) -> MetricRow:
        """Collects a rollout, learns from it and returns metrics."""
        began = time.perf_counter()
        rollout = self.player.take(self.steps)
        row = self.player.between_rollouts(self.updates + 1)
        if self.distillation is not None:
            self.distillation.push(self.storage, self.starts.clear_rate)
        self.player.launch()
        learning = time.perf_counter()
        row |= self._learn()
        learned = time.perf_counter()
        row |= self.player.rollout_metrics()
        self.player.release()
        self.steps += self.player.rollout_size
        self.updates += 1
        wall = time.perf_counter() - began
        self.elapsed += wall
        return row | speed_row(rollout, learned - learning, wall)

    def _learn(self) -> MetricRow:
        return self.learning.learn(
            self.storage, steps=self.steps, updates=self.updates, success=self.success
        )

    @property
    def storage(self) -> RolloutStorage:
        """The rollout that was taken last."""
        return self.player.storage

    @property
    def success(self) -> float:
        """Clear rate of recent episodes, from 0 to 1."""
        return self.statistics.clear_rate or 0.0

    def take_episodes(self) -> list[Episode]:
        """Returns the episodes that ended since the last call."""
        return self.player.take_episodes()

    def counters(self) -> MetricRow:
        """Returns the counters of the run."""
        return {
            "run/steps": self.steps,
            "run/updates": self.updates,
            "run/session": self.sessions,
            "run/elapsed": self.elapsed,
        }

    @property
    def place(self) -> str:
        """Description of device, precision and threads."""
        env = self.config.env
        how = f"on {_threads(env.num_threads or processor_cores())}"
        if env.vector != "native":
            how = f"in {'processes' if env.vector == 'async' else 'turn'} on {env.backend}"
        compiled = ", compiled" if self.config.run.compile else ""
        return (
            f"on {self.device}, {self.precision}{compiled}, PyTorch on "
            f"{_threads(torch.get_num_threads())}, {env.num_envs} environments {how}"
            + (f", divided among {self.ranks.size} ranks" if self.ranks.size > 1 else "")
        )

    def reconfigure(self, config: TrainConfig) -> None:
        """Applies options of learner, reward and level shares that changed between two updates.

        The network, the environments and everything else that is created from options are kept.
        """
        self.config = config
        self.player.set_config(share_of(config, self.ranks))
        self.learning.set_config(config)

    def close(self) -> None:
        """Stops collecting and closes the environments."""
        self.player.close()

    def abandon_update(self) -> None:
        """Restores a consistent state after an update that failed; the environments are kept.

        The rollout is discarded. The next one starts with the current observations, unless it has
        already been collected.
        """
        self.player.abandon(self.random.envs_seed(self.sessions + self.updates))
        self.learning.abandon()

    # Everything that an exact resume needs.

    def state_dict(self) -> dict[str, Any]:
        """Returns the state of the whole run between two updates."""
        playing = self.player.state_dict()  # Waits until no random stream is in use.
        return {
            **playing,
            **self.learning.state_dict(),
            "random": self.random.state_dict(),
            "counters": {
                "steps": self.steps,
                "updates": self.updates,
                "starts": self.sessions,
                "elapsed": self.elapsed,
            },
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resumes exactly from a state, or warns that environments start new episodes.

        Raises:
            CheckpointError: The weights do not fit the network.
        """
        counters = state["counters"]
        self.steps, self.updates = counters["steps"], counters["updates"]
        self.sessions = counters["starts"] + 1
        self.elapsed = counters["elapsed"]
        if self.player.fits(state):
            self.random.load_state_dict(state["random"])
        else:
            self.random.restart(self.sessions)
            state = state | {"replay": {}}  # A buffer has one part per environment.
        self.learning.load_state_dict(state)
        self.player.load_state_dict(state, steps=self.steps, session=self.sessions)


def _threads(count: int) -> str:
    return f"{count} thread" if count == 1 else f"{count} threads"
