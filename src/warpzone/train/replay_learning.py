"""Replay in a run: every rollout goes in, and the network is taught from it now and then."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from torch import Tensor

from warpzone.algorithms import returns
from warpzone.algorithms.self_imitation import ImitationSettings, SelfImitation
from warpzone.config import TrainConfig
from warpzone.models.actor_critic import ActorCritic
from warpzone.replay.buffer import Moments, PrioritizedReplay, ReplaySettings
from warpzone.rollout.storage import RolloutStorage
from warpzone.telemetry.metrics import MetricRow
from warpzone.train import build

_log = logging.getLogger(__name__)

# Of the critic's part in the self-imitation loss, as in the paper that introduced it.
_VF_COEF = 0.01


class ReplayLearning:
    """Prioritized replay with self-imitation."""

    def __init__(
        self,
        config: TrainConfig,
        obs_space: Any,
        model: ActorCritic,
        *,
        apply: Callable[[Tensor], float],
        autocast: Callable[[], AbstractContextManager[Any]],
        seed: int,
        shown: Sequence[Moments] = (),
    ):
        """Allocates the memory.

        Args:
            config: Of the run.
            obs_space: The space of one observation.
            model: What is taught.
            apply: Takes an optimizer step on a loss.
            autocast: Makes the context in which the model runs forward.
            seed: Of the draws.
            shown: Demonstrations, which are kept for ever, in a memory of their own.
        """
        options, env = config.replay, config.env
        tiles = env.obs == "tiles"
        self._discount = build.gamma(config)
        self._save = options.save

        def make_memory(capacity: int, lanes: int, seed: int) -> PrioritizedReplay:
            return PrioritizedReplay(
                ReplaySettings(capacity, options.alpha, options.half, options.sampler),
                lanes=lanes,
                stack=env.stack or (2 if tiles else 4),
                stack_shape=(obs_space["tiles"] if tiles else obs_space).shape,
                features=obs_space["features"].shape[0] if tiles else 0,
                device=model.policy.weight.device,
                seed=seed,
            )

        self.memory = make_memory(options.capacity, env.num_envs, seed)
        settings = ImitationSettings(
            options.interval,
            options.batches,
            options.batch_size,
            options.weight,
            _VF_COEF,
            options.beta,
            options.learning_starts,
        )
        self._imitation = SelfImitation(model, self.memory, settings, apply, autocast)
        self.shown: PrioritizedReplay | None = None
        if shown:
            self.shown = make_memory(sum(len(moments.actions) for moments in shown), 1, seed + 1)
            for moments in shown:
                self.shown.push(moments)
            settings = replace(settings, learning_starts=0)
            self._from_shown = SelfImitation(model, self.shown, settings, apply, autocast)

    def push(self, storage: RolloutStorage) -> None:
        """Keeps a rollout, forced steps included: what they led to is worth imitating too."""
        steps = returns.Steps(
            storage.rewards,
            storage.values,
            storage.next_values,
            storage.terminated,
            storage.ended,
        )
        gamma = self._discount.of(storage.progress())
        obs = storage.all_obs()
        stacks, features = obs if isinstance(obs, tuple) else (obs, None)
        self.memory.push(
            Moments(
                stacks,
                features,
                storage.first[: storage.steps],
                storage.actions,
                returns.gae(steps, gamma, gae_lambda=1.0).returns,
                storage.values,
            )
        )

    def learn(self, update: int, progress: float) -> MetricRow:
        """Learns from draws if it is time to, and tells how replay fares."""
        row: MetricRow = {}
        if self.shown is not None:
            told = self._from_shown.learn(update, progress)
            if told:
                row["replay/demonstration_better_share"] = told["replay/better_share"]
            self.shown.take_metrics()
        return row | self._imitation.learn(update, progress) | self.memory.take_metrics()

    def state_dict(self) -> dict[str, Any]:
        """The whole memory, or nothing where it is not to be saved."""
        if not self._save:
            return {}
        shown = {} if self.shown is None else self.shown.state_dict()
        return {"memory": self.memory.state_dict(), "shown": shown}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on with a saved memory, or with an empty one, which is said."""
        if state:
            self.memory.load_state_dict(state["memory"])
            if self.shown is not None:
                self.shown.load_state_dict(state["shown"])
        else:
            _log.warning(
                "the checkpoint holds no replay (--no-replay-save), so it begins empty: this run "
                "does not go on exactly where it stopped"
            )
