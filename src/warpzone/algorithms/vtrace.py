"""V-trace actor-critic, as in IMPALA (Espeholt et al., 2018)."""

from __future__ import annotations

from torch import Tensor

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
from warpzone.config import LearnOptions
from warpzone.models.actor_critic import Decision, log_prob
from warpzone.registry import register_algorithm

BEFORE = "log_probs_before"
"""Log-probabilities of the actions under the policy before the update, of each step."""
RHO = "rho"
"""Importance weight of each step, at most 1."""


@register_algorithm("vtrace")
class VTrace(Algorithm):
    """Importance-weighted targets and the plain policy gradient."""

    def targets(self, rollout: CollectedRollout) -> Targets:
        """Computes V-trace targets under the current policy."""
        return vtrace_targets(rollout, self.options.gae_lambda)

    def loss(self, batch: Batch, output: Decision) -> Loss:
        """Computes the policy gradient loss, value loss and entropy bonus."""
        policy = vtrace_policy_loss(
            log_prob(output.logits, batch.actions),
            batch.log_probs,
            weighted_advantages(batch, self.options),
            batch.mask,
        )
        return actor_critic_loss(policy, batch, output, self.options)


def vtrace_targets(rollout: CollectedRollout, gae_lambda: float) -> Targets:
    """Computes V-trace targets; advantages do not include the importance weights.

    Args:
        rollout: Rollout of an older policy.
        gae_lambda: Additional factor on the trace coefficients.
    """
    before = log_prob(rollout.evaluate().logits, rollout.actions)
    log_ratios = before - rollout.log_probs
    advantages, values = returns.vtrace(
        rollout.steps, log_ratios, rollout.gamma, gae_lambda, weighted=False
    )
    mask = rollout.steps.by_policy
    ratios = log_ratios.exp() if mask is None else log_ratios.where(mask, 0.0).exp()
    return Targets(
        advantages,
        values,
        extra={BEFORE: before, RHO: ratios.clamp(max=1.0)},
        metrics={"learn/rho_mean": float(masked_mean(ratios, mask))},
    )


def weighted_advantages(batch: Batch, options: LearnOptions) -> Tensor:
    """Returns normalized advantages of a minibatch, times its importance weights.

    Not the other way round: what normalization subtracts is a baseline, which changes nothing in
    expectation only if it is weighted as well. Without the weights it pushes the policy away from
    the older one, faster and faster, until it is deterministic.

    Args:
        batch: Steps with the extra values of `vtrace_targets`.
        options: Options of the learner.
    """
    advantages = batch.advantages
    if options.advantage_norm == "minibatch":  # Otherwise the learner normalized them.
        advantages = normalized(advantages, batch.mask, batch.moments)
    return advantages * batch.extra[RHO]
