"""The learner: turns a rollout into better weights. PPO and V-trace differ in one function each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from warpzone.algorithms import losses, returns
from warpzone.models.actor_critic import ActorCritic, Obs, entropy, log_prob
from warpzone.models.placement import to_device
from warpzone.rollout.storage import RolloutStorage

__all__ = ["Learner", "LearnerError", "LearnerSettings"]


class LearnerError(RuntimeError):
    """Too many gradients in a row were unusable."""


@dataclass(frozen=True)
class LearnerSettings:
    """How a rollout is learned from."""

    algorithm: str = "ppo"
    gamma: returns.Discount = field(default_factory=lambda: returns.Discount(0.97))
    gae_lambda: float = 0.95
    clip_coef: float = 0.2
    epochs: int = 4
    minibatch_size: int = 1024
    grad_accumulation: int = 1
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    normalise_advantages: bool = True
    target_kl: float = 0.0
    grad_norm_limit: float = 1000.0
    max_skipped_updates: int = 20


class Batch(NamedTuple):
    """Steps to learn from, [T, B], where the model is: a rollout or a part of it."""

    obs: Obs
    state: Tensor
    first: Tensor
    actions: Tensor
    log_probs: Tensor
    advantages: Tensor
    returns: Tensor
    own: Tensor  # Whether the policy chose the action; others' teach nothing.


class Minibatch(NamedTuple):
    """A part of a rollout, and its place among those whose gradients are gathered for one step.

    Attributes:
        batch: The part.
        share: Its share of the group's steps, so that every step counts alike.
        last: Whether the group is complete with it.
    """

    batch: Batch
    share: float
    last: bool


class Learner:
    """Holds the optimizer and applies updates."""

    def __init__(
        self,
        model: ActorCritic,
        optimizer: torch.optim.Optimizer,
        settings: LearnerSettings,
        generator: torch.Generator,
        autocast: Callable[[], Any],
        *,
        scaler: torch.amp.GradScaler | None = None,
    ):
        """Makes a learner.

        Args:
            model: What is taught.
            optimizer: Over its parameters.
            settings: How.
            generator: Shuffles minibatches.
            autocast: Makes the context in which the model runs forward.
            scaler: Keeps small gradients of float16 from vanishing; other precisions need none.
        """
        self.model, self.optimizer, self.settings = model, optimizer, settings
        self.generator, self.autocast = generator, autocast
        self.scaler = scaler or torch.amp.GradScaler(enabled=False)
        self.device = next(model.parameters()).device
        self.skipped = 0
        self._skipped_in_a_row = 0
        self._finite = True  # the losses whose gradients are being gathered

    def learn(self, storage: RolloutStorage, ent_coef: float) -> dict[str, float]:
        """Learns from a rollout and says how it went."""
        targets = self._targets(storage)
        rollout = self._rollout(storage, targets)
        seen: dict[str, list[float]] = {}
        epochs = 0
        for _ in range(self.settings.epochs):
            kl = 0.0
            epochs += 1
            for part in self._minibatches(rollout):
                stats = self._update(part, ent_coef)
                kl = stats["learn/approx_kl"]
                for name, value in stats.items():
                    seen.setdefault(name, []).append(value)
            if self.settings.target_kl > 0 and kl > self.settings.target_kl:
                break
        result = {name: sum(values) / len(values) for name, values in seen.items()}
        result["learn/explained_variance"] = returns.explained_variance(
            storage.values, targets.returns
        )
        result["learn/ent_coef"] = ent_coef
        result["learn/epochs"] = epochs
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
            ~storage.forced if bool(storage.forced.any()) else None,
        )
        gamma = s.gamma.of(storage.progress())
        if s.algorithm == "ppo":
            return returns.gae(steps, gamma, s.gae_lambda)
        inputs = (storage.all_obs(), storage.state, storage.first[: storage.steps])
        with self.autocast():
            decision = self.model.unroll(*to_device(inputs, self.device))
        log_ratios = log_prob(decision.logits.cpu(), storage.actions) - storage.log_probs
        return returns.vtrace(steps, log_ratios, gamma, s.gae_lambda)

    def _rollout(self, storage: RolloutStorage, targets: returns.Advantages) -> Batch:
        """The whole rollout, moved once: every epoch takes its minibatches from it."""
        first = storage.first[: storage.steps]
        obs = storage.all_obs()
        if self.settings.epochs > 1 and self.device.type == "cpu":
            # Turning bytes into numbers takes a third of an epoch there.
            with self.autocast(), torch.no_grad():
                obs = self.model.prepare(obs)
        parts = (obs, storage.state, first, storage.actions, storage.log_probs)
        return to_device(Batch(*parts, *targets, ~storage.forced), self.device)

    def _minibatches(self, rollout: Batch) -> Iterator[Minibatch]:
        """Single steps in random order, or with memory whole lanes; the last may be smaller."""
        steps, lanes = rollout.first.shape
        alone = self.model.memory.state_size == 0
        count, size = (steps * lanes, self.settings.minibatch_size)
        if not alone:
            count, size = lanes, max(1, size // steps)
        order = torch.randperm(count, generator=self.generator).to(self.device)
        chunks = torch.split(order, size)
        for begin in range(0, len(chunks), self.settings.grad_accumulation):
            group = chunks[begin : begin + self.settings.grad_accumulation]
            whole = sum(len(chosen) for chosen in group)
            for index, chosen in enumerate(group):
                batch = _steps_of(rollout, chosen) if alone else _lanes_of(rollout, chosen)
                yield Minibatch(batch, len(chosen) / whole, index + 1 == len(group))

    def _update(self, part: Minibatch, ent_coef: float) -> dict[str, float]:
        s, batch = self.settings, part.batch
        self.model.draw_noise(self.generator)
        with self.autocast():
            decision = self.model.unroll(batch.obs, batch.state, batch.first)
        log_probs = log_prob(decision.logits, batch.actions)
        own = None if bool(batch.own.all()) else batch.own
        advantages = batch.advantages
        if s.normalise_advantages:
            advantages = losses.normalised(advantages, own)
        if s.algorithm == "ppo":
            policy = losses.ppo_policy_loss(
                log_probs, batch.log_probs, advantages, s.clip_coef, own
            )
        else:
            policy = losses.vtrace_policy_loss(log_probs, batch.log_probs, advantages, own)
        value = losses.value_loss(decision.values, batch.returns, own)
        spread = losses.masked_mean(entropy(decision.logits), own)
        loss = policy.loss + s.vf_coef * value - ent_coef * spread
        torch.autograd.backward(self.scaler.scale(loss * part.share))
        total = loss.item()
        self._finite = self._finite and math.isfinite(total)
        applied = {"learn/grad_norm": self._apply()} if part.last else {}
        return applied | {
            "loss/total": total,
            "loss/policy": policy.loss.item(),
            "loss/value": value.item(),
            "loss/entropy": -ent_coef * spread.item(),
            "learn/entropy": spread.item(),
            "learn/approx_kl": policy.approx_kl.item(),
            "learn/clip_fraction": policy.clip_fraction.item(),
        }

    def take_step(self, loss: Tensor) -> float:
        """An optimizer step on a loss that comes from elsewhere; returns the gradient's norm."""
        torch.autograd.backward(self.scaler.scale(loss))
        self._finite = math.isfinite(loss.item())
        return self._apply()

    def _apply(self) -> float:
        """Takes a step with the gathered gradients; skips and counts it when they are unusable."""
        self.scaler.unscale_(self.optimizer)
        norm = float(nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.max_grad_norm))
        usable = self._finite and math.isfinite(norm) and norm <= self.settings.grad_norm_limit
        if usable:
            self.scaler.step(self.optimizer)
            self._skipped_in_a_row = 0
        else:
            self.skipped += 1
            self._skipped_in_a_row += 1
        self.scaler.update()
        self._finite = True
        self.optimizer.zero_grad(set_to_none=True)
        if self._skipped_in_a_row > self.settings.max_skipped_updates:
            raise LearnerError(
                f"{self._skipped_in_a_row} gradients in a row were unusable: the last had the norm "
                f"{norm:g}, where up to {self.settings.grad_norm_limit:g} is allowed"
            )
        return norm if math.isfinite(norm) else 0.0

    def state_dict(self) -> dict[str, Any]:
        """What the guards have seen, for an exact resume."""
        return {
            "skipped": self.skipped,
            "skipped_in_a_row": self._skipped_in_a_row,
            "scaler": self.scaler.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from a saved state; the precision may have changed since."""
        self.skipped = state["skipped"]
        self._skipped_in_a_row = state["skipped_in_a_row"]
        if state["scaler"]:
            self.scaler.load_state_dict(state["scaler"])


def _steps_of(rollout: Batch, chosen: Tensor) -> Batch:
    """Some steps of a rollout by number, as one moment of many lanes."""

    def take(part: Tensor) -> Tensor:
        # Much quicker than part[chosen] for pictures.
        return part.flatten(0, 1).index_select(0, chosen).unsqueeze(0)

    flat = [take(part) for part in rollout[3:]]
    obs = [take(part) for part in _parts(rollout.obs)]
    return Batch(_joined(obs), rollout.state, torch.zeros_like(flat[0], dtype=torch.bool), *flat)


def _lanes_of(rollout: Batch, chosen: Tensor) -> Batch:
    """Some lanes of a rollout, all steps of each."""
    obs = _joined([part[:, chosen] for part in _parts(rollout.obs)])
    return Batch(obs, rollout.state[chosen], *(part[:, chosen] for part in rollout[2:]))


def _parts(obs: Obs) -> list[Tensor]:
    return list(obs) if isinstance(obs, tuple) else [obs]


def _joined(parts: list[Tensor]) -> Obs:
    return (parts[0], parts[1]) if len(parts) == 2 else parts[0]
