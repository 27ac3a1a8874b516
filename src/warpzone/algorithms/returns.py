"""Returns and advantages as pure functions of a rollout.

All tensors are [T, N] (time, environment) unless stated otherwise. The value after a terminated
episode is 0; a truncated episode is bootstrapped from the critic's value of its final state.

Gamma may be one number, or one per step. `discount_factors` computes factors from an exponent per
step, which the environment supplies: with the distance covered as the exponent, an agent that waits
for a fire bar to pass loses nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


def discount_factors(gamma: float, progress_gamma: float, exponents: Tensor) -> Tensor:
    """Returns the discount factor of each step: `gamma * progress_gamma ** exponent`."""
    return gamma * progress_gamma**exponents


class Steps(NamedTuple):
    """Steps of a rollout.

    Attributes:
        rewards: Reward of each step.
        values: Value of the state before each step.
        next_values: Value of the state after each step. Where an episode ended, this is its final
            state, not the first state of the next episode.
        terminated: Whether the episode terminated with the step.
        ended: Whether the episode ended with the step, terminated or truncated.
        by_policy: Whether the policy chose the action; None if it chose all actions. Steps with
            other actions are not learned from, and the steps before them are bootstrapped from the
            critic's value of the state in which the override began.
    """

    rewards: Tensor
    values: Tensor
    next_values: Tensor
    terminated: Tensor
    ended: Tensor
    by_policy: Tensor | None = None

    def td_errors(self, gamma: float | Tensor) -> Tensor:
        """Returns the temporal-difference errors; 0 where the policy did not choose the action."""
        errors = self.rewards + gamma * self.next_values * ~self.terminated - self.values
        return errors if self.by_policy is None else errors.where(self.by_policy, 0.0)


class Advantages(NamedTuple):
    """Advantages for the policy and returns for the critic."""

    advantages: Tensor
    returns: Tensor


def gae(steps: Steps, gamma: float | Tensor, gae_lambda: float) -> Advantages:
    """Computes generalized advantage estimates (Schulman et al., 2016)."""
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
    weighted: bool = True,
) -> Advantages:
    """Computes V-trace targets and policy-gradient advantages (Espeholt et al., 2018).

    Args:
        steps: Steps of the rollout.
        log_ratios: log(pi / mu) of each action, with the current policy pi and the policy mu that
            collected the rollout.
        gamma: Discount factor, one for all steps or one per step.
        gae_lambda: Additional factor on the trace coefficients.
        rho_clip: Upper bound of the importance weights of the temporal differences (rho-bar).
        c_clip: Upper bound of the importance weights of the traces (c-bar).
        weighted: Whether advantages include the importance weights, as in the paper.
    """
    ratios = log_ratios.exp()
    rho = ratios.clamp(max=rho_clip)
    carry = gamma * gae_lambda * ratios.clamp(max=c_clip) * _continues(steps)
    targets = steps.values + _accumulated(rho * steps.td_errors(gamma), carry)
    # The next state's value is its own target, except at the end of an episode or the rollout.
    following = steps.next_values.clone()
    following[:-1] = torch.where(steps.ended[:-1], steps.next_values[:-1], targets[1:])
    advantages = steps._replace(next_values=following).td_errors(gamma)
    return Advantages(rho * advantages if weighted else advantages, targets)


def _continues(steps: Steps) -> Tensor:
    """Whether the outcome after a step is attributable to the policy's action."""
    return ~steps.ended if steps.by_policy is None else ~steps.ended & steps.by_policy


def _accumulated(terms: Tensor, carry: Tensor) -> Tensor:
    """Computes the recursion `sum[t] = term[t] + carry[t] * sum[t + 1]`."""
    result = torch.empty_like(terms)
    total = torch.zeros_like(terms[0])
    for t in range(terms.shape[0] - 1, -1, -1):
        total = terms[t] + carry[t] * total
        result[t] = total
    return result


def explained_variance(predictions: Tensor, targets: Tensor) -> float:
    """Returns the explained variance of predictions; 0 if the targets have no variance."""
    variance = targets.var(unbiased=False)
    if variance <= 0:
        return 0.0
    return float(1.0 - (targets - predictions).var(unbiased=False) / variance)
