"""Losses of PPO and the V-trace actor-critic, as pure functions.

`mask` is False for steps whose action the policy did not choose; None means it chose all actions.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from warpzone.algorithms.ranks import Moments


class PolicyLoss(NamedTuple):
    """Policy loss, and how much the policy has changed since the rollout was collected.

    Attributes:
        loss: Policy loss.
        approx_kl: Approximate KL divergence from the policy that collected the rollout.
        clip_fraction: Fraction of steps whose ratio was clipped; None without clipping.
    """

    loss: Tensor
    approx_kl: Tensor
    clip_fraction: Tensor | None = None


def masked_mean(values: Tensor, mask: Tensor | None) -> Tensor:
    """Returns the mean over the entries selected by the mask; 0 if there are none."""
    if mask is None:
        return values.mean()
    # Not computed as a product with the mask: masked values may be infinite.
    return values.where(mask, 0.0).sum() / mask.sum().clamp(min=1)


def ppo_policy_loss(
    log_probs: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    clip_coef: float,
    mask: Tensor | None = None,
) -> PolicyLoss:
    """Computes the clipped surrogate objective of PPO.

    Args:
        log_probs: Log-probabilities of the actions under the current policy.
        old_log_probs: Log-probabilities under the policy that collected the rollout.
        advantages: Advantages of the actions.
        clip_coef: Clipping range of the probability ratio around 1.
        mask: Steps to include.
    """
    log_ratio = _log_ratio(log_probs, old_log_probs, mask)
    ratio = log_ratio.exp()
    surrogate = torch.minimum(
        ratio * advantages, ratio.clamp(1 - clip_coef, 1 + clip_coef) * advantages
    )
    with torch.no_grad():
        kl = masked_mean(ratio - 1 - log_ratio, mask)
        clipped = masked_mean(((ratio - 1).abs() > clip_coef).to(ratio.dtype), mask)
    return PolicyLoss(-masked_mean(surrogate, mask), kl, clipped)


def vtrace_policy_loss(
    log_probs: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    mask: Tensor | None = None,
) -> PolicyLoss:
    """Computes the plain policy gradient loss; `advantages` include importance weights."""
    with torch.no_grad():
        log_ratio = _log_ratio(log_probs, old_log_probs, mask)
        kl = masked_mean(log_ratio.exp() - 1 - log_ratio, mask)
    return PolicyLoss(-masked_mean(log_probs * advantages, mask), kl)


def _log_ratio(log_probs: Tensor, old_log_probs: Tensor, mask: Tensor | None) -> Tensor:
    """Returns log ratios, 0 for masked steps, whose unlikely actions could overflow `exp`."""
    log_ratio = log_probs - old_log_probs
    return log_ratio if mask is None else log_ratio.where(mask, 0.0)


def value_loss(values: Tensor, returns: Tensor, mask: Tensor | None = None) -> Tensor:
    """Computes the smooth L1 loss, which limits the influence of outliers."""
    if mask is None:
        return functional.smooth_l1_loss(values, returns)
    return masked_mean(functional.smooth_l1_loss(values, returns, reduction="none"), mask)


def normalized(
    advantages: Tensor, mask: Tensor | None = None, moments: Moments | None = None
) -> Tensor:
    """Normalizes advantages to mean 0 and standard deviation 1 over the included steps.

    Args:
        advantages: Advantages of the minibatch.
        mask: Steps to include.
        moments: Mean and standard deviation over several ranks; None to compute them here.
    """
    if moments is not None:
        return (advantages - moments.mean) / (moments.std + 1e-8)
    chosen = advantages if mask is None else advantages[mask]
    if chosen.numel() < 2:
        return advantages
    return (advantages - chosen.mean()) / (chosen.std() + 1e-8)
