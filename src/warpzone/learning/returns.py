"""Returns and advantages as pure functions of what was collected.

All tensors are [T, N] (time, lane) unless said otherwise. An episode that ends by itself
(terminated) is worth nothing more; one that is cut (truncated) is worth what the critic says of
the state in which it was cut.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Advantages(NamedTuple):
    """What a policy is taught with."""

    advantages: Tensor
    returns: Tensor


def gae(
    rewards: Tensor,
    values: Tensor,
    next_values: Tensor,
    terminated: Tensor,
    ended: Tensor,
    discount: float,
    trace: float,
) -> Advantages:
    """Generalised advantage estimation.

    Args:
        rewards: Reward of each step.
        values: The critic's value before each step.
        next_values: Its value of the state after each step: the state in which the episode ended,
            where it did, not the first of the next one.
        terminated: Whether the episode ended by itself with the step.
        ended: Whether it ended in any way, terminated or truncated.
        discount: Gamma.
        trace: Lambda.
    """
    alive = (~terminated).to(values.dtype)
    flows_on = (~ended).to(values.dtype)
    deltas = rewards + discount * next_values * alive - values
    advantages = torch.empty_like(deltas)
    carried = torch.zeros_like(deltas[0])
    for t in range(deltas.shape[0] - 1, -1, -1):
        carried = deltas[t] + discount * trace * flows_on[t] * carried
        advantages[t] = carried
    return Advantages(advantages, advantages + values)


def vtrace(
    rewards: Tensor,
    values: Tensor,
    next_values: Tensor,
    terminated: Tensor,
    ended: Tensor,
    log_ratios: Tensor,
    discount: float,
    trace: float = 1.0,
    rho_clip: float = 1.0,
    c_clip: float = 1.0,
) -> Advantages:
    """V-trace targets and policy-gradient advantages (IMPALA).

    Args:
        rewards: As for `gae`, like the next four.
        values: As above.
        next_values: As above.
        terminated: As above.
        ended: As above.
        log_ratios: log(pi / mu) of each action taken: the learner's policy against the one that
            collected.
        discount: Gamma.
        trace: Lambda, a further factor on the trace coefficients.
        rho_clip: Bound on the importance weight of a temporal difference.
        c_clip: Bound on the importance weight that a trace carries on.
    """
    alive = (~terminated).to(values.dtype)
    flows_on = (~ended).to(values.dtype)
    ratios = log_ratios.exp()
    rho = ratios.clamp(max=rho_clip)
    c = trace * ratios.clamp(max=c_clip)
    deltas = rho * (rewards + discount * next_values * alive - values)
    corrections = torch.empty_like(deltas)
    carried = torch.zeros_like(deltas[0])
    for t in range(deltas.shape[0] - 1, -1, -1):
        carried = deltas[t] + discount * flows_on[t] * c[t] * carried
        corrections[t] = carried
    targets = values + corrections
    # What follows a step is worth its own target, except where the episode ended or the data does.
    following = next_values.clone()
    following[:-1] = torch.where(ended[:-1], next_values[:-1], targets[1:])
    advantages = rho * (rewards + discount * following * alive - values)
    return Advantages(advantages, targets)


def explained_variance(predictions: Tensor, targets: Tensor) -> float:
    """Share of the targets' variance that the predictions explain; 0 when there is none."""
    variance = targets.var(unbiased=False)
    if variance <= 0:
        return 0.0
    return float(1.0 - (targets - predictions).var(unbiased=False) / variance)
