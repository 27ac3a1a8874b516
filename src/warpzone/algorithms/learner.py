"""Learner: updates the network from rollouts, with any algorithm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from warpzone.algorithms.base import Algorithm, Batch, CollectedRollout, Targets
from warpzone.algorithms.gradient_step import GradientStep
from warpzone.algorithms.level_advantages import LevelAdvantages
from warpzone.algorithms.ranks import Ranks
from warpzone.algorithms.returns import Steps, discount_factors, explained_variance
from warpzone.config import LearnOptions
from warpzone.errors import ConfigError
from warpzone.models.actor_critic import ActorCritic, Decision
from warpzone.models.placement import to_device
from warpzone.models.tree import Tree, map_tree
from warpzone.rollout.storage import RolloutStorage

Autocast = Callable[[], AbstractContextManager[Any]]
"""Returns the context manager for the network's forward pass."""
_KL = "learn/approx_kl"


class RolloutTensors(NamedTuple):
    """Whole rollout on the network's device, from which every epoch takes its minibatches.

    Attributes:
        obs: Observations, or the result of `ActorCritic.prepare`.
        state: Recurrent state before the first step.
        first: Where episodes begin.
        steps: Other parts of minibatches by name, [T, N].
        extra: Additional values of the algorithm, [T, N].
    """

    obs: Tree
    state: Tensor
    first: Tensor
    steps: Tree
    extra: Tree


class Minibatch(NamedTuple):
    """Part of a rollout, and its place in a group whose gradients are accumulated.

    Attributes:
        batch: Steps of the minibatch.
        share: Fraction of the group's steps, so that every step has the same weight.
        last: Whether the minibatch completes its group.
    """

    batch: Batch
    share: float
    last: bool


class Learner:
    """Learns from rollouts: targets, epochs, minibatches and gradient steps."""

    def __init__(
        self,
        model: ActorCritic,
        algorithm: Algorithm,
        gradient: GradientStep,
        options: LearnOptions,
        *,
        generator: torch.Generator,
        autocast: Autocast,
        levels: int = 1,
        ranks: Ranks | None = None,
    ):
        """Creates the learner.

        Args:
            model: Network that learns.
            algorithm: Computes targets and losses.
            gradient: Applies gradients to the network.
            options: Epochs, minibatches and discounts.
            generator: Random generator that shuffles minibatches.
            autocast: Returns the context manager for the forward pass.
            levels: Number of levels of the run.
            ranks: Ranks that learn together; by default there is only one.
        """
        self.level_advantages = LevelAdvantages(levels)
        self.model, self.algorithm, self.gradient = model, algorithm, gradient
        self.options = options
        self._generator, self._autocast = generator, autocast
        self._device = next(model.parameters()).device
        self._ranks = ranks or Ranks()

    def set_options(self, options: LearnOptions) -> None:
        """Sets options that were changed between two updates."""
        self.options = self.algorithm.options = options
        self.gradient.set_options(options)

    def learn(
        self, storage: RolloutStorage, ent_coef: float, level_weights: Tensor | None = None
    ) -> dict[str, float]:
        """Learns from a rollout and returns metrics.

        Args:
            storage: Rollout to learn from.
            ent_coef: Coefficient of the entropy bonus.
            level_weights: Weight of the policy's loss on each level, with `advantage_norm` "level";
                1 by default. The critic learns from all levels.
        """
        targets = self._normalized(storage, self.targets(storage), level_weights)
        rollout = self.tensors(storage, targets)
        sums: dict[str, list[float]] = {}
        epochs = 0
        row: dict[str, float] = {}
        while epochs < self.options.epochs and not self._has_moved_far(row):
            epochs += 1
            for part in self._minibatches(rollout, ent_coef):
                row = self._update(part)
                for name, value in row.items():
                    sums.setdefault(name, []).append(value)
        means = {name: sum(values) / len(values) for name, values in sums.items()}
        return {
            **means,
            **targets.metrics,
            "learn/epochs": epochs,
            "learn/explained_variance": explained_variance(storage.values, targets.returns),
            "learn/ent_coef": ent_coef,
            "learn/value_mean": float(storage.values.mean()),
            "learn/advantage_std": float(targets.advantages.std()),
            "learn/skipped": self.gradient.skipped,
        }

    @torch.no_grad()
    def targets(self, storage: RolloutStorage) -> Targets:
        """Computes the algorithm's targets for a rollout."""
        overridden = bool(storage.overridden.any())
        steps = Steps(
            storage.rewards,
            storage.values,
            storage.next_values,
            storage.terminated,
            storage.ended,
            ~storage.overridden if overridden else None,
        )
        gamma = discount_factors(
            self.options.gamma, self.options.progress_gamma, storage.discount_exponents
        )
        return self.algorithm.targets(
            CollectedRollout(
                steps, gamma, storage.actions, storage.log_probs, lambda: self._evaluate(storage)
            )
        )

    def _normalized(
        self, storage: RolloutStorage, targets: Targets, level_weights: Tensor | None
    ) -> Targets:
        """Normalizes advantages by level, unless the algorithm does so for each minibatch."""
        if self.options.advantage_norm != "level":
            return targets
        advantages = self.level_advantages.normalized(
            targets.advantages, storage.levels, ~storage.overridden
        )
        if level_weights is not None:
            advantages = advantages * level_weights[storage.levels]
        return replace(targets, advantages=advantages)

    def _evaluate(self, storage: RolloutStorage) -> Decision:
        inputs = (storage.all_obs(), storage.state, storage.first[: storage.steps])
        with self._autocast():
            decision = self.model.unroll(*to_device(inputs, self._device))
        return to_device(decision, torch.device("cpu"))

    def tensors(self, storage: RolloutStorage, targets: Targets) -> RolloutTensors:
        """Moves a rollout to the network's device."""
        obs = storage.all_obs()
        if self.options.epochs > 1 and self._device.type == "cpu":
            # On a CPU, converting bytes to floats takes a third of an epoch.
            with self._autocast(), torch.no_grad():
                obs = self.model.prepare(obs)
        steps = {
            "actions": storage.actions,
            "log_probs": storage.log_probs,
            "advantages": targets.advantages,
            "returns": targets.returns,
            "mask": ~storage.overridden,
        }
        first = storage.first[: storage.steps]
        rollout = RolloutTensors(obs, storage.state, first, steps, dict(targets.extra))
        return to_device(rollout, self._device)

    def _minibatches(self, rollout: RolloutTensors, ent_coef: float) -> Iterator[Minibatch]:
        """Yields shuffled steps, or whole environments with a recurrent core."""
        steps, num_envs = rollout.first.shape
        recurrent = self.model.memory.state_size > 0
        count, size = (steps * num_envs, self.options.minibatch_size)
        if recurrent:
            count, size = num_envs, max(1, size // steps)
        order = torch.randperm(count, generator=self._generator).to(self._device)
        chunks = torch.split(order, size)
        take = _take_envs if recurrent else _take_steps
        for begin in range(0, len(chunks), self.options.grad_accumulation):
            group = chunks[begin : begin + self.options.grad_accumulation]
            whole = sum(len(chosen) for chosen in group)
            for index, chosen in enumerate(group):
                batch = self._with_moments(_batch(take(rollout, chosen), ent_coef))
                yield Minibatch(batch, len(chosen) / whole, index + 1 == len(group))

    def _with_moments(self, batch: Batch) -> Batch:
        moments = self._ranks.moments(batch.advantages, batch.mask)
        return batch if moments is None else replace(batch, moments=moments)

    def _update(self, part: Minibatch) -> dict[str, float]:
        self.model.draw_noise(self._generator)
        with self._autocast():
            output = self.model.unroll(part.batch.obs, part.batch.state, part.batch.first)
        loss = self.algorithm.loss(part.batch, output)
        total = self.gradient.accumulate(loss.total, part.share)
        row = {"loss/total": total} | {name: _number(value) for name, value in loss.metrics.items()}
        return row | {"learn/grad_norm": self.gradient.apply()} if part.last else row

    def _has_moved_far(self, row: dict[str, float]) -> bool:
        """Whether the policy has changed so much that further epochs would use stale data.

        Args:
            row: Metrics of the last minibatch; empty before the first epoch.
        """
        limit = self.options.target_kl
        if limit <= 0 or not row:
            return False
        if _KL not in row:
            raise ConfigError(
                f"learn.target_kl is {limit:g}, but {type(self.algorithm).__name__} does not "
                f"report {_KL}; omit --target-kl"
            )
        return self._ranks.mean(row[_KL]) > limit

    def state_dict(self) -> dict[str, Any]:
        """Returns the state that an exact resume needs besides weights and optimizer."""
        return self.gradient.state_dict() | {"level_advantages": self.level_advantages.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self.gradient.load_state_dict(state)
        self.level_advantages.load_state_dict(state["level_advantages"])


def _number(value: Tensor | float) -> float:
    return float(value.item()) if isinstance(value, Tensor) else float(value)


def _take_steps(rollout: RolloutTensors, chosen: Tensor) -> RolloutTensors:
    """Selects steps of a rollout by index, arranged as one step of many environments."""

    def take(part: Tensor) -> Tensor:
        # Much faster than part[chosen] for images.
        return part.flatten(0, 1).index_select(0, chosen).unsqueeze(0)

    steps = map_tree(take, rollout.steps)
    first = torch.zeros_like(steps["mask"])
    obs, extra = map_tree(take, rollout.obs), map_tree(take, rollout.extra)
    return RolloutTensors(obs, rollout.state, first, steps, extra)


def _take_envs(rollout: RolloutTensors, chosen: Tensor) -> RolloutTensors:
    """Selects all steps of some environments of a rollout."""

    def take(part: Tensor) -> Tensor:
        return part[:, chosen]

    return RolloutTensors(
        map_tree(take, rollout.obs),
        rollout.state[chosen],
        take(rollout.first),
        map_tree(take, rollout.steps),
        map_tree(take, rollout.extra),
    )


def _batch(part: RolloutTensors, ent_coef: float) -> Batch:
    steps = part.steps
    return Batch(
        obs=part.obs,
        state=part.state,
        first=part.first,
        actions=steps["actions"],
        log_probs=steps["log_probs"],
        advantages=steps["advantages"],
        returns=steps["returns"],
        mask=None if bool(steps["mask"].all()) else steps["mask"],
        ent_coef=ent_coef,
        extra=part.extra,
    )
