"""Asynchronous PPO: PPO that learns from rollouts of older policies.

V-trace (Espeholt et al., 2018) corrects targets and advantages for the policy that collected the
rollout. The clipped loss limits how far the policy moves from where it was before the update, and
not from the policy that collected the rollout (Hilton et al., 2021): otherwise, the older a rollout
is, the less could be learned from it.
"""

from __future__ import annotations

from warpzone.algorithms import returns
from warpzone.algorithms.base import (
    Algorithm,
    Batch,
    CollectedRollout,
    Loss,
    Targets,
    actor_critic_loss,
)
from warpzone.algorithms.losses import masked_mean, normalized, ppo_policy_loss
from warpzone.models.actor_critic import Decision, log_prob
from warpzone.registry import register_algorithm

_BEFORE = "log_probs_before"


@register_algorithm("appo")
class APPO(Algorithm):
    """V-trace targets, and PPO's loss around the policy before the update."""

    def targets(self, rollout: CollectedRollout) -> Targets:
        """Computes V-trace targets under the current policy, and keeps its probabilities."""
        before = log_prob(rollout.evaluate().logits, rollout.actions)
        log_ratios = before - rollout.log_probs
        advantages, values = returns.vtrace(
            rollout.steps, log_ratios, rollout.gamma, self.options.gae_lambda
        )
        mask = rollout.steps.by_policy
        ratios = log_ratios.exp() if mask is None else log_ratios.where(mask, 0.0).exp()
        return Targets(
            advantages,
            values,
            extra={_BEFORE: before},
            metrics={"learn/rho_mean": float(masked_mean(ratios, mask))},
        )

    def loss(self, batch: Batch, output: Decision) -> Loss:
        """Computes the clipped surrogate loss, value loss and entropy bonus."""
        advantages = batch.advantages
        if self.options.advantage_norm == "minibatch":  # Otherwise the learner normalized them.
            advantages = normalized(advantages, batch.mask, batch.moments)
        policy = ppo_policy_loss(
            log_prob(output.logits, batch.actions),
            batch.extra[_BEFORE],
            advantages,
            self.options.clip_coef,
            batch.mask,
        )
        return actor_critic_loss(policy, batch, output, self.options)
