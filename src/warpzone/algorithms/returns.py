"""Returns and advantages as pure functions of a rollout.

All tensors are [T, N] (time, environment) unless stated otherwise. An episode that ends by itself
(terminated) has no value after its end; one that is cut off (truncated) is worth what the critic
says of the state in which it was truncated.

Gamma may be one number, or one per step. `discount_factors` makes factors that depend on an
exponent per step, which the environment supplies: with the distance covered as the exponent, an
agent that waits for a fire bar to pass gives nothing away.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


def discount_factors(gamma: float, progress_gamma: float, exponents: Tensor) -> Tensor:
    """Discount factor of each step: `gamma * progress_gamma ** exponent`."""
    return gamma * progress_gamma**exponents


class Steps(NamedTuple):
    """The steps of a rollout.

    Attributes:
        rewards: Reward of each step.
        values: The critic's value before each step.
        next_values: Its value of the state after each step: where an episode ended, of the state in
            which it ended, not of the first of the next one.
        terminated: Whether the episode ended by itself with the step.
        ended: Whether it ended in any way, terminated or truncated.
        by_policy: Whether the policy chose the action, or None where it chose all. Other actions
            say nothing about the policy: their steps teach nothing, and what comes before them is
            worth what the critic says of the state in which they began.
    """

    rewards: Tensor
    values: Tensor
    next_values: Tensor
    terminated: Tensor
    ended: Tensor
    by_policy: Tensor | None = None

    def td_errors(self, gamma: float | Tensor) -> Tensor:
        """Temporal-difference error of each step; zero where the policy did not choose."""
        errors = self.rewards + gamma * self.next_values * ~self.terminated - self.values
        return errors if self.by_policy is None else errors.where(self.by_policy, 0.0)


class Advantages(NamedTuple):
    """Advantages for the policy and returns for the critic."""

    advantages: Tensor
    returns: Tensor


def gae(steps: Steps, gamma: float | Tensor, gae_lambda: float) -> Advantages:
    """Generalised advantage estimation (Schulman et al., 2016)."""
    advantages = _accumulated(steps.td_errors(gamma), gamma * gae_lambda * _continues(steps))
    return Advantages(advantages, advantages + steps.values)


def vtrace(
    steps: Steps,
    log_ratios: Tensor,
    gamma: float | Tensor,
    gae_lambda: float = 1.0,
    *,
    rho_clip: float = 1.0,
    c_clip: float = 1.0,
) -> Advantages:
    """V-trace targets and policy-gradient advantages (IMPALA; Espeholt et al., 2018).

    Args:
        steps: The rollout.
        log_ratios: log(pi / mu) of each action: the present policy against the one that collected.
        gamma: Discount factor, of all steps or of each.
        gae_lambda: Further factor on the trace coefficients.
        rho_clip: Upper bound on the importance weight of a temporal difference.
        c_clip: Upper bound on the importance weight that a trace passes on.
    """
    ratios = log_ratios.exp()
    rho = ratios.clamp(max=rho_clip)
    carry = gamma * gae_lambda * ratios.clamp(max=c_clip) * _continues(steps)
    targets = steps.values + _accumulated(rho * steps.td_errors(gamma), carry)
    # The state after a step is worth its own target, except where the episode or the data ends.
    following = steps.next_values.clone()
    following[:-1] = torch.where(steps.ended[:-1], steps.next_values[:-1], targets[1:])
    advantages = rho * steps._replace(next_values=following).td_errors(gamma)
    return Advantages(advantages, targets)


def _continues(steps: Steps) -> Tensor:
    """Whether what follows a step is a consequence of the policy's choice."""
    return ~steps.ended if steps.by_policy is None else ~steps.ended & steps.by_policy


def _accumulated(terms: Tensor, carry: Tensor) -> Tensor:
    """Sums from the end: each term plus `carry` times the sum after it."""
    result = torch.empty_like(terms)
    total = torch.zeros_like(terms[0])
    for t in range(terms.shape[0] - 1, -1, -1):
        total = terms[t] + carry[t] * total
        result[t] = total
    return result


def explained_variance(predictions: Tensor, targets: Tensor) -> float:
    """Share of the targets' variance that the predictions explain; 0 if there is no variance."""
    variance = targets.var(unbiased=False)
    if variance <= 0:
        return 0.0
    return float(1.0 - (targets - predictions).var(unbiased=False) / variance)
