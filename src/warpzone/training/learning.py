"""Learning of a run: optimizer, learner, schedules, averaged weights, replay and distillation."""

from __future__ import annotations

from typing import Any

from warpzone.algorithms.build import make_algorithm
from warpzone.algorithms.ema import EmaPolicy
from warpzone.algorithms.gradient_step import GradientStep
from warpzone.algorithms.learner import Learner
from warpzone.algorithms.ranks import Ranks
from warpzone.config import TrainConfig
from warpzone.models.weights import load_weights, strip_compiled
from warpzone.rollout.storage import RolloutStorage
from warpzone.runs.levels import trained_levels
from warpzone.telemetry.metrics import MetricRow
from warpzone.training import device
from warpzone.training.annealing import Annealing
from warpzone.training.curriculum.demonstrations import demonstrations
from warpzone.training.distillation import DistillationLearning
from warpzone.training.network import (
    clip_of,
    make_optimizer,
    match_layout,
    train_only_value_head,
)
from warpzone.training.player_parts import PlayerParts
from warpzone.training.process_ranks import share_of
from warpzone.training.random_streams import RandomStreams
from warpzone.training.replay_learning import ReplayLearning
from warpzone.training.teachers import Teachers


class Learning:
    """Changes the weights of a player's network.

    Attributes:
        replay: Self-imitation from prioritized replay; None without replay.
        distillation: Learning from teachers; None without teachers.
    """

    def __init__(
        self, config: TrainConfig, parts: PlayerParts, random: RandomStreams, ranks: Ranks
    ):
        """Builds everything that learns.

        Args:
            config: Configuration of the run.
            parts: Network and environments.
            random: Random streams of the run.
            ranks: Ranks that learn together.
        """
        self._parts, self._random, self._ranks = parts, random, ranks
        self._config = share_of(config, ranks)
        self.model = parts.model
        self.optimizer = make_optimizer(config.learn, self.model, native=parts.native_layers)
        self.learner = self._make_learner()
        self.annealing = Annealing(config, parts.guidance)
        self.average = EmaPolicy(self.model, config.learn.ema_decay)
        self.replay = self._make_replay() if config.replay.capacity else None
        self.distillation = self._make_distillation() if config.distill.teachers else None

    def learn(
        self, storage: RolloutStorage, *, steps: int, updates: int, success: float
    ) -> MetricRow:
        """Learns from a rollout and returns metrics.

        Args:
            storage: The rollout.
            steps: Environment steps of the run before this update.
            updates: Updates of the run before this one.
            success: Clear rate of recent episodes, from 0 to 1.
        """
        rate = self.annealing.learning_rate(steps, success)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        ent_coef = self.annealing.ent_coef(success)
        row: MetricRow = {"learn/learning_rate": rate}
        train_only_value_head(self.model, steps < self._config.learn.critic_warmup)
        weights = None if self.distillation is None else self.distillation.reward_weights
        if self.distillation is None or weights is not None:
            row |= self.learner.learn(storage, ent_coef, weights)
        if self.distillation is not None:  # Later: PPO needs the policy that collected the rollout.
            row |= self.distillation.learn()
        if self.replay is not None:
            self.replay.push(storage)
            row |= self.replay.learn(updates, steps / self._config.run.steps)
        self.average.update(self.model)
        return row

    def start_from(self, weights: dict[str, Any]) -> None:
        """Starts a new run with the weights of another policy."""
        load_weights(self.model, weights)
        self.average.restart(self.model)

    def set_config(self, config: TrainConfig) -> None:
        """Applies options that were changed between two updates."""
        self._config = share_of(config, self._ranks)
        self.learner.set_options(self._config.learn)
        self.annealing = Annealing(config, self._parts.guidance)

    def abandon(self) -> None:
        """Discards the gradients of an update that failed."""
        self.optimizer.zero_grad(set_to_none=True)

    def state_dict(self) -> dict[str, Any]:
        """Returns the state of everything that learns, between two updates."""
        return {
            "model": strip_compiled(self.model.state_dict()),
            "average": self.average.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "learner": self.learner.state_dict(),
            "replay": {} if self.replay is None else self.replay.state_dict(),
            "distillation": {} if self.distillation is None else self.distillation.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`.

        Raises:
            CheckpointError: The weights do not fit the network.
        """
        load_weights(self.model, state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        match_layout(self.optimizer)
        self.learner.load_state_dict(state["learner"])
        self.average.load_state_dict(state["average"])
        if self.replay is not None:
            self.replay.load_state_dict(state["replay"])
        if self.distillation is not None:
            self.distillation.load_state_dict(state["distillation"])

    def _make_learner(self) -> Learner:
        options, parts = self._config.learn, self._parts
        scaler = device.make_scaler(parts.precision, parts.device)
        return Learner(
            self.model,
            make_algorithm(options, self._config.run.plugins),
            GradientStep(
                self.model,
                self.optimizer,
                options,
                scaler,
                clip=clip_of(self.optimizer),
                ranks=self._ranks,
            ),
            options,
            generator=self._random.learn,
            autocast=parts.autocast,
            levels=len(trained_levels(self._config.env)),
            ranks=self._ranks,
        )

    def _make_replay(self) -> ReplayLearning:
        config, parts = self._config, self._parts
        return ReplayLearning(
            config.replay,
            config.learn,
            self.model,
            obs_spaces=parts.collector.env.obs_spaces,
            stacks=parts.envs.stacks(config),
            num_envs=parts.env.num_envs,
            minimize=self.learner.gradient.minimize,
            autocast=parts.autocast,
            seed=self._random.replay_seed,
            demonstrations=demonstrations(config) if config.starts.solutions else (),
        )

    def _make_distillation(self) -> DistillationLearning:
        config, parts = self._config, self._parts
        return DistillationLearning(
            Teachers(config, None if parts.policy is None else parts.policy.kernel),
            self.model,
            config.distill,
            minimize=self.learner.gradient.minimize,
            autocast=parts.autocast,
            generator=self._random.learn,
        )
