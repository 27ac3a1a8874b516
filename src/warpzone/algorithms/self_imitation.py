"""Self-imitation learning (Oh et al., 2018) from actions that exceeded the critic's estimate.

Returns are bootstrapped at the end of a rollout, which keeps them lower bounds of the optimal
return. It learns only from replay and does not affect the algorithm's on-policy loss.
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

# Coefficient of the value loss, as in the paper.
_VF_COEF = 0.01


class ImitationLoss(NamedTuple):
    """Self-imitation loss.

    Attributes:
        policy: Policy loss; raises the probability of actions with positive advantage.
        value: Value loss; raises the values of states with positive advantage.
        advantages: Return minus value of each step, detached.
    """

    policy: Tensor
    value: Tensor
    advantages: Tensor


def self_imitation_loss(
    log_probs: Tensor, values: Tensor, returns: Tensor, weights: Tensor
) -> ImitationLoss:
    """Computes the loss of steps sampled from replay; only positive advantages contribute.

    Args:
        log_probs: Log-probabilities of the actions under the current policy.
        values: Values of the states.
        returns: Returns of the actions.
        weights: Importance-sampling weights.
    """
    advantages = (returns - values).detach()
    better = advantages.clamp(min=0.0)
    gap = (returns - values).clamp(min=0.0)
    policy = -(weights * better * log_probs).mean()
    value = 0.5 * (weights * gap.square()).mean()
    return ImitationLoss(policy, value, advantages)


class SelfImitation:
    """Trains a network on a replay buffer."""

    def __init__(
        self,
        model: ActorCritic,
        replay: PrioritizedReplay,
        options: ReplayOptions,
        minimize: Callable[[Tensor], float],
        autocast: Callable[[], AbstractContextManager[Any]],
    ):
        """Creates the learner.

        Args:
            model: Network that learns; it must not be recurrent, since single steps are sampled.
            replay: Replay buffer.
            options: Interval, batches and coefficients.
            minimize: Takes an optimizer step on a loss and returns the norm of the gradient.
            autocast: Returns the context manager for the forward pass.
        """
        self._model, self._replay, self._options = model, replay, options
        self._minimize, self._autocast = minimize, autocast

    def learn(self, update: int, progress: float) -> dict[str, float]:
        """Learns if the interval has passed, and returns metrics.

        Args:
            update: Number of updates before this one.
            progress: Fraction of the run completed.
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
