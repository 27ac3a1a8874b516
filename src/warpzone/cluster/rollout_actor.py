"""The actor: owns a pool of environments and plays whole rollouts with the weights it is given."""

from __future__ import annotations

import time
from typing import Any

import torch

from warpzone.algorithms.ranks import Ranks
from warpzone.cluster.played_rollout import PlayedRollout, Policy, packed, put_weights
from warpzone.config import TrainConfig
from warpzone.training.player import Player
from warpzone.training.random_streams import RandomStreams


class RolloutActor:
    """Plays rollouts; Ray runs it in a process of its own, on any machine."""

    def __init__(self, number: int, config: TrainConfig, knowledge: dict[str, Any] | None):
        """Stores the configuration; environments are created with the first rollout.

        An error while they are created is then the error of a call, with its message.

        Args:
            number: Number of the actor.
            config: Configuration of the actor.
            knowledge: What the curriculum of earlier actors has learned; None for a new run.
        """
        self._number, self._config, self._knowledge = number, config, knowledge
        self._run_config = config
        self._player: Player | None = None
        self._finished = time.perf_counter()

    def ready(self) -> int:
        """Returns the number of the actor, once its process runs."""
        return self._number

    def collect(self, policy: Policy, steps: int, asks_knowledge: bool) -> PlayedRollout:
        """Plays a rollout.

        Args:
            policy: Weights to play with.
            steps: Environment steps of the run so far.
            asks_knowledge: Whether to return what the curriculum has learned.
        """
        idle = time.perf_counter() - self._finished
        player = self._player
        if player is None:
            player = self._player = self._make_player()
        else:
            # Not after the last rollout: its arrays were sent after the call had returned.
            player.release()
        if policy.config != self._run_config:
            self._run_config = policy.config
            player.set_config(policy.config)
        put_weights(policy.weights, player.parts.model)
        rollout = player.take(steps)
        metrics = player.between_rollouts(policy.version + 1)
        player.parts.statistics.take_metrics()  # The learner keeps the statistics of the run.
        starts = player.parts.starts
        played = PlayedRollout(
            self._number,
            policy.version,
            packed(rollout.storage),
            player.take_episodes(),
            metrics,
            rollout.times,
            idle,
            starts.state_dict() if asks_knowledge and not starts.is_idle else None,
        )
        self._finished = time.perf_counter()
        return played

    def _make_player(self) -> Player:
        config = self._config.with_plugins()
        torch.set_num_threads(config.run.torch_threads)
        player = Player(config, RandomStreams(config.run.seed), Ranks())
        if self._knowledge is not None:
            player.parts.starts.load_knowledge(self._knowledge)
        player.begin()
        return player
