"""Replay in a run: what is pushed, when it is learned from, and what is saved."""

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
    """Prioritized replay with self-imitation, of rollouts and of demonstrations."""

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
            options: Of replay.
            learn: Discounts of the returns.
            model: The network that learns.
            obs_spaces: The named parts of one observation.
            stacks: Parts that are stacks of frames, with the number of frames.
            num_envs: Number of environments.
            minimize: Takes an optimizer step on a loss.
            autocast: Makes the context in which the model runs forward.
            seed: Of the samples.
            demonstrations: Kept for the whole run, in a buffer of their own.
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
        """Memory that is allocated."""
        shown = 0 if self.demonstrations is None else self.demonstrations.nbytes
        return self.buffer.nbytes + shown

    def push(self, storage: RolloutStorage) -> None:
        """Stores a rollout, overridden steps included: good results are worth imitating too."""
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
        """Learns from samples if it is due, and returns metrics."""
        row: MetricRow = {}
        if self.demonstrations is not None:
            learned = self._from_demonstrations.learn(update, progress)
            if learned:
                row["replay/demonstration_better_share"] = learned["replay/better_share"]
            self.demonstrations.take_metrics()
        return row | self._imitation.learn(update, progress) | self.buffer.take_metrics()

    def state_dict(self) -> dict[str, Any]:
        """The buffers; empty if they are not to be saved."""
        if not self._save:
            return {}
        shown = {} if self.demonstrations is None else self.demonstrations.state_dict()
        return {"buffer": self.buffer.state_dict(), "demonstrations": shown}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores saved buffers, or warns that replay begins empty."""
        if state:
            self.buffer.load_state_dict(state["buffer"])
            if self.demonstrations is not None:
                self.demonstrations.load_state_dict(state["demonstrations"])
        else:
            _log.warning(
                "the checkpoint holds no replay (--no-replay-save), so it begins empty: this run "
                "does not resume exactly where it left off"
            )
