"""V-trace actor-critic, as in IMPALA (Espeholt et al., 2018)."""

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
from warpzone.algorithms.losses import masked_mean, normalized, vtrace_policy_loss
from warpzone.models.actor_critic import Decision, log_prob
from warpzone.registry import register_algorithm


@register_algorithm("vtrace")
class VTrace(Algorithm):
    """Importance-weighted targets and the plain policy gradient."""

    def targets(self, rollout: CollectedRollout) -> Targets:
        """Computes V-trace targets under the current policy."""
        logits = rollout.evaluate().logits
        log_ratios = log_prob(logits, rollout.actions) - rollout.log_probs
        advantages, values = returns.vtrace(
            rollout.steps, log_ratios, rollout.gamma, self.options.gae_lambda
        )
        mask = rollout.steps.by_policy
        ratios = log_ratios.exp() if mask is None else log_ratios.where(mask, 0.0).exp()
        return Targets(
            advantages, values, metrics={"learn/rho_mean": float(masked_mean(ratios, mask))}
        )

    def loss(self, batch: Batch, output: Decision) -> Loss:
        """Computes the policy gradient loss, value loss and entropy bonus."""
        policy = vtrace_policy_loss(
            log_prob(output.logits, batch.actions),
            batch.log_probs,
            normalized(batch.advantages, batch.mask, batch.moments),
            batch.mask,
        )
        return actor_critic_loss(policy, batch, output, self.options)
