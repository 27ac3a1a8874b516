"""Asynchronous PPO: PPO that learns from rollouts of older policies.

V-trace (Espeholt et al., 2018) corrects targets and advantages for the policy that collected the
rollout. The clipped loss limits how far the policy moves from where it was before the update, and
not from the policy that collected the rollout (Hilton et al., 2021): otherwise, the older a rollout
is, the less could be learned from it.
"""

from __future__ import annotations

from warpzone.algorithms.base import Batch, Loss, actor_critic_loss
from warpzone.algorithms.losses import ppo_policy_loss
from warpzone.algorithms.vtrace import BEFORE, VTrace, weighted_advantages
from warpzone.models.actor_critic import Decision, log_prob
from warpzone.registry import register_algorithm


@register_algorithm("appo")
class APPO(VTrace):
    """V-trace targets, and PPO's loss around the policy before the update."""

    def loss(self, batch: Batch, output: Decision) -> Loss:
        """Computes the clipped surrogate loss, value loss and entropy bonus."""
        policy = ppo_policy_loss(
            log_prob(output.logits, batch.actions),
            batch.extra[BEFORE],
            weighted_advantages(batch, self.options),
            self.options.clip_coef,
            batch.mask,
        )
        return actor_critic_loss(policy, batch, output, self.options)
