"""Proximal policy optimization (Schulman et al., 2017)."""

from __future__ import annotations

from warpzone.algorithms.base import (
    Algorithm,
    Batch,
    CollectedRollout,
    Loss,
    Targets,
    actor_critic_loss,
)
from warpzone.algorithms.losses import normalized, ppo_policy_loss
from warpzone.algorithms.returns import gae
from warpzone.models.actor_critic import Decision, log_prob
from warpzone.registry import register_algorithm


@register_algorithm("ppo")
class PPO(Algorithm):
    """GAE targets and the clipped surrogate loss, with normalized advantages."""

    def targets(self, rollout: CollectedRollout) -> Targets:
        """Computes generalized advantage estimates."""
        advantages, returns = gae(rollout.steps, rollout.gamma, self.options.gae_lambda)
        return Targets(advantages, returns)

    def loss(self, batch: Batch, output: Decision) -> Loss:
        """Computes the clipped surrogate loss, value loss and entropy bonus."""
        advantages = batch.advantages
        if self.options.advantage_norm == "minibatch":  # Otherwise the learner normalized them.
            advantages = normalized(advantages, batch.mask, batch.moments)
        policy = ppo_policy_loss(
            log_prob(output.logits, batch.actions),
            batch.log_probs,
            advantages,
            self.options.clip_coef,
            batch.mask,
        )
        return actor_critic_loss(policy, batch, output, self.options)
