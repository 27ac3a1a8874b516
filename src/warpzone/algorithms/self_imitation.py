"""Self-imitation: learning again from what once turned out better than the critic expected.

After Oh and others (2018), with returns that are bootstrapped where a rollout ends, which keeps
them lower bounds of what is possible. It teaches from replay alone; nothing of it enters the
on-policy loss of PPO or V-trace.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from warpzone.algorithms.schedules import lerp
from warpzone.models.actor_critic import ActorCritic, log_prob
from warpzone.replay.buffer import PrioritizedReplay


class ImitationLoss(NamedTuple):
    """What self-imitation minimises.

    Attributes:
        policy: Makes actions likelier that led to more than expected.
        value: Raises the critic where it expected too little.
        advantages: Return minus value of each step, without gradient.
    """

    policy: Tensor
    value: Tensor
    advantages: Tensor


def self_imitation_loss(
    log_probs: Tensor, values: Tensor, returns: Tensor, weights: Tensor
) -> ImitationLoss:
    """The loss of steps drawn from replay; those that were no better than expected count nothing.

    Args:
        log_probs: Of the actions done, under the policy being taught.
        values: The critic's.
        returns: What the actions led to.
        weights: Importance weights of the draw.
    """
    advantages = (returns - values).detach()
    better = advantages.clamp(min=0.0)
    gap = (returns - values).clamp(min=0.0)
    policy = -(weights * better * log_probs).mean()
    value = 0.5 * (weights * gap.square()).mean()
    return ImitationLoss(policy, value, advantages)


@dataclass(frozen=True)
class ImitationSettings:
    """How often and how strongly replay is learned from.

    Attributes:
        interval: Updates between two times.
        batches: Draws each time.
        batch: Transitions in a draw.
        weight: Of the whole loss.
        value_weight: Of the critic's part in it.
        beta: Share of the sampling bias that importance weights undo, at the start; 1 at the end.
        learning_starts: Transitions that must be there first.
    """

    interval: int = 1
    batches: int = 4
    batch: int = 256
    weight: float = 0.1
    vf_coef: float = 0.01
    beta: float = 0.4
    learning_starts: int = 10_000


class SelfImitation:
    """Teaches a network from its replay."""

    def __init__(
        self,
        model: ActorCritic,
        replay: PrioritizedReplay,
        settings: ImitationSettings,
        apply: Callable[[Tensor], float],
        autocast: Callable[[], AbstractContextManager[Any]],
    ):
        """Puts the parts together.

        Args:
            model: What is taught; without memory, since single steps are drawn.
            replay: What is drawn from.
            settings: How.
            apply: Takes an optimizer step on a loss and returns the gradient's norm.
            autocast: Makes the context in which the model runs forward.
        """
        self.model, self.replay, self.settings = model, replay, settings
        self._apply, self._autocast = apply, autocast

    def learn(self, update: int, progress: float) -> dict[str, float]:
        """Learns if it is time to, and says how it went.

        Args:
            update: Updates done before this one.
            progress: Share of the run that is done.
        """
        s = self.settings
        if update % s.interval != 0 or len(self.replay) < s.learning_starts:
            return {}
        sums = torch.zeros(3)
        for _ in range(s.batches):
            sums += self._learn_once(lerp(s.beta, 1.0, progress))
        names = ("loss/imitation_policy", "loss/imitation_value", "replay/better_share")
        return dict(zip(names, (sums / s.batches).tolist(), strict=True))

    def _learn_once(self, beta: float) -> Tensor:
        s = self.settings
        device = self.model.policy.weight.device
        drawn = self.replay.sample(s.batch, beta)
        obs = drawn.obs
        inputs = (
            tuple(part.to(device) for part in obs) if isinstance(obs, tuple) else obs.to(device)
        )
        with self._autocast():
            decision = self.model(inputs)
        result = self_imitation_loss(
            log_prob(decision.logits, drawn.actions.to(device)),
            decision.values,
            drawn.returns.to(device),
            drawn.weights.to(device),
        )
        self._apply(s.weight * (result.policy + s.vf_coef * result.value))
        self.replay.set_priorities(drawn.indices, result.advantages)
        better = (result.advantages > 0).float().mean()
        return torch.stack([result.policy.detach(), result.value.detach(), better]).cpu()
