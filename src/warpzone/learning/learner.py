"""The learner: turns a rollout into better weights. PPO and V-trace differ in one function each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from warpzone.learning import losses, returns
from warpzone.models.actor_critic import ActorCritic, Obs, entropy, log_prob
from warpzone.models.placement import to_device
from warpzone.rollout.storage import RolloutStorage

__all__ = ["Learner", "LearnerError", "LearnerSettings"]


class LearnerError(RuntimeError):
    """Too many updates in a row were unusable."""


@dataclass(frozen=True)
class LearnerSettings:
    """How a rollout is learned from."""

    algorithm: str = "ppo"
    discount: float = 0.97
    trace: float = 0.95
    clip: float = 0.2
    epochs: int = 4
    minibatch: int = 1024
    accumulate: int = 1
    value_weight: float = 0.5
    gradient_norm: float = 0.5
    normalise_advantages: bool = True
    stop_at_kl: float = 0.0
    bad_updates_allowed: int = 20


class Batch(NamedTuple):
    """Steps to learn from, [T, B], where the model is: a rollout or a part of it."""

    obs: Obs
    state: Tensor
    first: Tensor
    actions: Tensor
    log_probs: Tensor
    advantages: Tensor
    returns: Tensor


class Learner:
    """Holds the optimizer and applies updates."""

    def __init__(
        self,
        model: ActorCritic,
        optimizer: torch.optim.Optimizer,
        settings: LearnerSettings,
        generator: torch.Generator,
        autocast: Callable[[], Any],
    ):
        """Makes a learner.

        Args:
            model: What is taught.
            optimizer: Over its parameters.
            settings: How.
            generator: Shuffles minibatches.
            autocast: Makes the context in which the model runs forward.
        """
        self.model, self.optimizer, self.settings = model, optimizer, settings
        self.generator, self.autocast = generator, autocast
        self.device = next(model.parameters()).device
        self.skipped = 0
        self._skipped_in_a_row = 0

    def learn(self, storage: RolloutStorage, entropy_weight: float) -> dict[str, float]:
        """Learns from a rollout and says how it went."""
        targets = self._targets(storage)
        rollout = self._rollout(storage, targets)
        sums: dict[str, float] = {}
        count = 0
        for _ in range(self.settings.epochs):
            kl = 0.0
            for index, batch in enumerate(self._batches(rollout)):
                stats = self._update(batch, entropy_weight, index)
                kl = stats["learn/kl"]
                for name, value in stats.items():
                    sums[name] = sums.get(name, 0.0) + value
                count += 1
            if self.settings.stop_at_kl > 0 and kl > self.settings.stop_at_kl:
                break
        result = {name: value / count for name, value in sums.items()}
        result["learn/explained_variance"] = returns.explained_variance(
            storage.values, targets.returns
        )
        result["learn/entropy_coefficient"] = entropy_weight
        result["learn/value_mean"] = float(storage.values.mean())
        result["learn/advantage_std"] = float(targets.advantages.std())
        result["learn/skipped"] = self.skipped
        return result

    @torch.no_grad()
    def _targets(self, storage: RolloutStorage) -> returns.Advantages:
        s = self.settings
        steps = returns.Steps(
            storage.rewards,
            storage.values,
            storage.next_values,
            storage.terminated,
            storage.ended,
        )
        if s.algorithm == "ppo":
            return returns.gae(steps, s.discount, s.trace)
        inputs = (storage.all_obs(), storage.state, storage.first[: storage.steps])
        with self.autocast():
            decision = self.model.unroll(*to_device(inputs, self.device))
        log_ratios = log_prob(decision.logits.cpu(), storage.actions) - storage.log_probs
        return returns.vtrace(steps, log_ratios, s.discount, s.trace)

    def _rollout(self, storage: RolloutStorage, targets: returns.Advantages) -> Batch:
        """The whole rollout, moved once: every epoch takes its minibatches from it."""
        first = storage.first[: storage.steps]
        parts = (storage.all_obs(), storage.state, first, storage.actions, storage.log_probs)
        return to_device(Batch(*parts, *targets), self.device)

    def _batches(self, rollout: Batch) -> Iterator[Batch]:
        """Minibatches: single steps in random order (T is 1), or with memory whole lanes."""
        steps, lanes = rollout.first.shape
        if self.model.memory.state_size == 0:
            order = torch.randperm(steps * lanes, generator=self.generator).to(self.device)
            parts = [part.flatten(0, 1) for part in _parts(rollout.obs)]
            first = torch.zeros(1, dtype=torch.bool, device=self.device)
            flat = [part.flatten(0, 1) for part in rollout[3:]]
            for chosen in torch.split(order, self.settings.minibatch):
                yield Batch(
                    _joined([part.index_select(0, chosen).unsqueeze(0) for part in parts]),
                    rollout.state,
                    first.expand(1, len(chosen)),
                    *(part[chosen].unsqueeze(0) for part in flat),
                )
            return
        order = torch.randperm(lanes, generator=self.generator).to(self.device)
        for chosen in torch.split(order, max(1, self.settings.minibatch // steps)):
            yield Batch(
                _joined([part[:, chosen] for part in _parts(rollout.obs)]),
                rollout.state[chosen],
                *(part[:, chosen] for part in rollout[2:]),
            )

    def _update(self, batch: Batch, entropy_weight: float, index: int) -> dict[str, float]:
        s = self.settings
        self.model.draw_noise(self.generator)
        with self.autocast():
            decision = self.model.unroll(batch.obs, batch.state, batch.first)
        log_probs = log_prob(decision.logits, batch.actions)
        advantages = batch.advantages
        if s.normalise_advantages:
            advantages = losses.normalised(advantages)
        if s.algorithm == "ppo":
            policy = losses.ppo_policy_loss(log_probs, batch.log_probs, advantages, s.clip)
        else:
            policy = losses.vtrace_policy_loss(log_probs, batch.log_probs, advantages)
        value = losses.value_loss(decision.values, batch.returns)
        spread = entropy(decision.logits).mean()
        loss = policy.loss + s.value_weight * value - entropy_weight * spread
        norm = self._apply(loss, index)
        return {
            "loss/total": loss.item(),
            "loss/policy": policy.loss.item(),
            "loss/value": value.item(),
            "loss/entropy": -entropy_weight * spread.item(),
            "learn/entropy": spread.item(),
            "learn/kl": policy.approximate_kl.item(),
            "learn/clip_share": policy.clip_share.item(),
            "learn/grad_norm": norm,
        }

    def _apply(self, loss: Tensor, index: int) -> float:
        """Back-propagates, and steps once enough gradients are gathered; skips unusable ones."""
        torch.autograd.backward(loss / self.settings.accumulate)
        if (index + 1) % self.settings.accumulate != 0:
            return 0.0
        norm = float(nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.gradient_norm))
        if math.isfinite(norm) and bool(torch.isfinite(loss)):
            self.optimizer.step()
            self._skipped_in_a_row = 0
        else:
            self.skipped += 1
            self._skipped_in_a_row += 1
            if self._skipped_in_a_row > self.settings.bad_updates_allowed:
                raise LearnerError(
                    f"{self._skipped_in_a_row} updates in a row had a loss or gradient that is no "
                    "number; lower the learning rate, or resume from an earlier checkpoint"
                )
        self.optimizer.zero_grad(set_to_none=True)
        return norm if math.isfinite(norm) else 0.0


def _parts(obs: Obs) -> list[Tensor]:
    return list(obs) if isinstance(obs, tuple) else [obs]


def _joined(parts: list[Tensor]) -> Obs:
    return (parts[0], parts[1]) if len(parts) == 2 else parts[0]
