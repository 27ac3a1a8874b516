"""Losses as pure functions: PPO and the V-trace actor-critic."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional


class PolicyLoss(NamedTuple):
    """A policy loss and what to report about it."""

    loss: Tensor
    approx_kl: Tensor
    clip_fraction: Tensor


def masked_mean(values: Tensor, mask: Tensor | None) -> Tensor:
    """Mean over the entries that count; 0 when none does."""
    if mask is None:
        return values.mean()
    # Not a product: what does not count may be infinite.
    return values.where(mask, 0.0).sum() / mask.sum().clamp(min=1)


def ppo_policy_loss(
    log_probs: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    clip_coef: float,
    mask: Tensor | None = None,
) -> PolicyLoss:
    """The clipped surrogate of PPO.

    Args:
        log_probs: Of the actions taken, under the policy being taught.
        old_log_probs: Under the policy that took them.
        advantages: Of the same steps.
        clip_coef: How far the ratio may move before its gradient stops.
        mask: False for steps whose action the policy did not choose.
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
    loss = -masked_mean(log_probs * advantages, mask)
    return PolicyLoss(loss, kl, torch.zeros_like(kl))


def _log_ratio(log_probs: Tensor, old_log_probs: Tensor, mask: Tensor | None) -> Tensor:
    """Zero for steps that do not count: an action that the policy finds absurd overflows `exp`."""
    log_ratio = log_probs - old_log_probs
    return log_ratio if mask is None else log_ratio.where(mask, 0.0)


def value_loss(values: Tensor, returns: Tensor, mask: Tensor | None = None) -> Tensor:
    """Smooth L1: squared near the target, straight far from it, so that outliers stay bounded."""
    if mask is None:
        return functional.smooth_l1_loss(values, returns)
    return masked_mean(functional.smooth_l1_loss(values, returns, reduction="none"), mask)


def normalised(advantages: Tensor, mask: Tensor | None = None) -> Tensor:
    """Advantages with mean 0 and deviation 1 over the steps that count."""
    chosen = advantages if mask is None else advantages[mask]
    if chosen.numel() < 2:
        return advantages
    return (advantages - chosen.mean()) / (chosen.std() + 1e-8)
