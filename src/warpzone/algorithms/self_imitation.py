"""Self-imitation: learning again from actions that turned out better than the critic expected.

After Oh et al. (2018), with returns that are bootstrapped where a rollout ends, which keeps them
lower bounds of what is possible. It learns from replay alone; nothing of it enters the on-policy
loss of the algorithm.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import torch
from torch import Tensor

from warpzone.algorithms.schedules import lerp
from warpzone.config import ReplayOptions
from warpzone.models.actor_critic import ActorCritic, log_prob
from warpzone.models.placement import to_device
from warpzone.replay.buffer import PrioritizedReplay

# Weight of the critic's part in the loss, as in the paper that introduced it.
_VF_COEF = 0.01


class ImitationLoss(NamedTuple):
    """The loss of self-imitation.

    Attributes:
        policy: Makes actions more likely that led to more than expected.
        value: Raises the critic where it expected too little.
        advantages: Return minus value of each step, without gradient.
    """

    policy: Tensor
    value: Tensor
    advantages: Tensor


def self_imitation_loss(
    log_probs: Tensor, values: Tensor, returns: Tensor, weights: Tensor
) -> ImitationLoss:
    """The loss of steps sampled from replay; only those that were better than expected count.

    Args:
        log_probs: Of the actions taken, under the present policy.
        values: The critic's.
        returns: What the actions led to.
        weights: Importance weights of the samples.
    """
    advantages = (returns - values).detach()
    better = advantages.clamp(min=0.0)
    gap = (returns - values).clamp(min=0.0)
    policy = -(weights * better * log_probs).mean()
    value = 0.5 * (weights * gap.square()).mean()
    return ImitationLoss(policy, value, advantages)


class SelfImitation:
    """Teaches a network from a replay buffer."""

    def __init__(
        self,
        model: ActorCritic,
        replay: PrioritizedReplay,
        options: ReplayOptions,
        minimize: Callable[[Tensor], float],
        autocast: Callable[[], AbstractContextManager[Any]],
    ):
        """Assembles the parts.

        Args:
            model: The network that learns; without recurrent memory, since single steps are
                sampled.
            replay: The buffer.
            options: How often, how much and how strongly.
            minimize: Takes an optimizer step on a loss and returns the norm of the gradient.
            autocast: Makes the context in which the model runs forward.
        """
        self._model, self._replay, self._options = model, replay, options
        self._minimize, self._autocast = minimize, autocast

    def learn(self, update: int, progress: float) -> dict[str, float]:
        """Learns if it is due, and returns metrics.

        Args:
            update: Updates done before this one.
            progress: Share of the run that is done.
        """
        options = self._options
        if update % options.interval != 0 or len(self._replay) < options.learning_starts:
            return {}
        sums = torch.zeros(3)
        for _ in range(options.batches):
            sums += self._learn_once(lerp(options.beta, 1.0, progress))
        names = ("loss/imitation_policy", "loss/imitation_value", "replay/better_share")
        return dict(zip(names, (sums / options.batches).tolist(), strict=True))

    def _learn_once(self, beta: float) -> Tensor:
        options = self._options
        device = self._model.policy.weight.device
        sample = self._replay.sample(options.batch_size, beta)
        obs, actions, returns, weights = to_device(
            (sample.obs, sample.actions, sample.returns, sample.weights), device
        )
        with self._autocast():
            decision = self._model(obs)
        log_probs = log_prob(decision.logits, actions)
        result = self_imitation_loss(log_probs, decision.values, returns, weights)
        self._minimize(options.weight * (result.policy + _VF_COEF * result.value))
        self._replay.set_priorities(sample.indices, result.advantages)
        better = (result.advantages > 0).float().mean()
        return torch.stack([result.policy.detach(), result.value.detach(), better]).cpu()
