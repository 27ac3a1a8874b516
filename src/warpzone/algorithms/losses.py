"""Losses as pure functions: PPO and the V-trace actor-critic.

`mask` is False for steps whose action the policy did not choose; None means that it chose all.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional


class PolicyLoss(NamedTuple):
    """A policy loss and how far the policy has moved since it collected.

    Attributes:
        loss: The loss.
        approx_kl: Estimated KL divergence from the collecting policy.
        clip_fraction: Share of the steps whose ratio was clipped; None without clipping.
    """

    loss: Tensor
    approx_kl: Tensor
    clip_fraction: Tensor | None = None


def masked_mean(values: Tensor, mask: Tensor | None) -> Tensor:
    """Mean over the entries of the mask; 0 if there are none."""
    if mask is None:
        return values.mean()
    # Not a product: masked values may be infinite.
    return values.where(mask, 0.0).sum() / mask.sum().clamp(min=1)


def ppo_policy_loss(
    log_probs: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    clip_coef: float,
    mask: Tensor | None = None,
) -> PolicyLoss:
    """The clipped surrogate objective of PPO.

    Args:
        log_probs: Of the actions taken, under the present policy.
        old_log_probs: Under the policy that took them.
        advantages: Of the same steps.
        clip_coef: How far the ratio may move before its gradient stops.
        mask: Steps that count.
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
    """The plain policy gradient; `advantages` already carry their importance weights."""
    with torch.no_grad():
        log_ratio = _log_ratio(log_probs, old_log_probs, mask)
        kl = masked_mean(log_ratio.exp() - 1 - log_ratio, mask)
    return PolicyLoss(-masked_mean(log_probs * advantages, mask), kl)


def _log_ratio(log_probs: Tensor, old_log_probs: Tensor, mask: Tensor | None) -> Tensor:
    """Zero for masked steps: an action that the policy finds absurd would overflow `exp`."""
    log_ratio = log_probs - old_log_probs
    return log_ratio if mask is None else log_ratio.where(mask, 0.0)


def value_loss(values: Tensor, returns: Tensor, mask: Tensor | None = None) -> Tensor:
    """Smooth L1 loss: quadratic near the target, linear far from it, so outliers stay bounded."""
    if mask is None:
        return functional.smooth_l1_loss(values, returns)
    return masked_mean(functional.smooth_l1_loss(values, returns, reduction="none"), mask)


def normalized(advantages: Tensor, mask: Tensor | None = None) -> Tensor:
    """Advantages with mean 0 and standard deviation 1 over the steps that count."""
    chosen = advantages if mask is None else advantages[mask]
    if chosen.numel() < 2:
        return advantages
    return (advantages - chosen.mean()) / (chosen.std() + 1e-8)
