"""Replay in a run: adding rollouts, learning from samples, saving."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from gymnasium import spaces
from torch import Tensor

from warpzone._native import SumTree
from warpzone.algorithms import returns
from warpzone.algorithms.self_imitation import SelfImitation
from warpzone.config import LearnOptions, ReplayOptions
from warpzone.models.actor_critic import ActorCritic
from warpzone.replay.buffer import PrioritizedReplay, Transitions
from warpzone.rollout.storage import RolloutStorage
from warpzone.telemetry.metrics import MetricRow

_log = logging.getLogger(__name__)


class ReplayLearning:
    """Self-imitation from prioritized replay of rollouts and demonstrations."""

    def __init__(
        self,
        options: ReplayOptions,
        learn: LearnOptions,
        model: ActorCritic,
        *,
        obs_spaces: Mapping[str, spaces.Box],
        stacks: Mapping[str, int],
        num_envs: int,
        minimize: Callable[[Tensor], float],
        autocast: Callable[[], AbstractContextManager[Any]],
        seed: int,
        demonstrations: Sequence[Transitions] = (),
    ):
        """Allocates the buffers.

        Args:
            options: Options of replay.
            learn: Options of the learner, for the discounts of the returns.
            model: Network that learns.
            obs_spaces: Named parts of one observation.
            stacks: Parts that are stacks of frames, with the number of frames.
            num_envs: Number of environments.
            minimize: Takes an optimizer step on a loss.
            autocast: Returns the context manager for the forward pass.
            seed: Random seed for sampling.
            demonstrations: Transitions kept for the whole run, in a separate buffer.
        """
        self._learn, self._save = learn, options.save

        def make_buffer(options: ReplayOptions, num_envs: int, seed: int) -> PrioritizedReplay:
            return PrioritizedReplay(
                options,
                obs_spaces,
                SumTree(options.capacity),
                num_envs=num_envs,
                stacks=stacks,
                device=model.policy.weight.device,
                seed=seed,
            )

        self.buffer = make_buffer(options, num_envs, seed)
        self._imitation = SelfImitation(model, self.buffer, options, minimize, autocast)
        self.demonstrations: PrioritizedReplay | None = None
        if demonstrations:
            count = sum(len(shown.actions) for shown in demonstrations)
            theirs = replace(options, capacity=count, learning_starts=0)
            self.demonstrations = make_buffer(theirs, 1, seed + 1)
            for shown in demonstrations:
                self.demonstrations.push(shown)
            self._from_demonstrations = SelfImitation(
                model, self.demonstrations, theirs, minimize, autocast
            )

    @property
    def nbytes(self) -> int:
        """Allocated memory in bytes."""
        shown = 0 if self.demonstrations is None else self.demonstrations.nbytes
        return self.buffer.nbytes + shown

    def push(self, storage: RolloutStorage) -> None:
        """Adds a rollout, including overridden steps, whose good results can be imitated."""
        steps = returns.Steps(
            storage.rewards,
            storage.values,
            storage.next_values,
            storage.terminated,
            storage.ended,
        )
        gamma = returns.discount_factors(
            self._learn.gamma, self._learn.progress_gamma, storage.discount_exponents
        )
        self.buffer.push(
            Transitions(
                storage.all_obs(),
                storage.first[: storage.steps],
                storage.actions,
                returns.gae(steps, gamma, gae_lambda=1.0).returns,
                storage.values,
            )
        )

    def learn(self, update: int, progress: float) -> MetricRow:
        """Learns from samples if the interval has passed, and returns metrics."""
        row: MetricRow = {}
        if self.demonstrations is not None:
            learned = self._from_demonstrations.learn(update, progress)
            if learned:
                row["replay/demonstration_better_share"] = learned["replay/better_share"]
            self.demonstrations.take_metrics()
        return row | self._imitation.learn(update, progress) | self.buffer.take_metrics()

    def state_dict(self) -> dict[str, Any]:
        """Returns the buffers; empty if they are not saved."""
        if not self._save:
            return {}
        shown = {} if self.demonstrations is None else self.demonstrations.state_dict()
        return {"buffer": self.buffer.state_dict(), "demonstrations": shown}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores saved buffers, or warns that replay starts empty."""
        if state:
            self.buffer.load_state_dict(state["buffer"])
            if self.demonstrations is not None:
                self.demonstrations.load_state_dict(state["demonstrations"])
        else:
            _log.warning(
                "the checkpoint has no replay buffer (--no-replay-save), so it starts empty: this "
                "run does not resume exactly where it left off"
            )
