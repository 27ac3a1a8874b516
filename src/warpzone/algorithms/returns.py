"""Returns and advantages as pure functions of what was collected.

All tensors are [T, N] (time, lane) unless said otherwise. An episode that ends by itself
(terminated) is worth nothing more; one that is cut (truncated) is worth what the critic says of
the state in which it was cut.

Gamma may be one number, or one for each step: `Discount` makes those that fall with the ground a
step covers rather than with the time it takes, so that an agent which waits for a fire bar to pass
gives nothing away.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

_TILE = 16.0  # pixels


class Discount(NamedTuple):
    """What the future is worth.

    Attributes:
        step: Gamma of every step.
        tile: Gamma of every tile, 16 pixels, of progress that a step makes.
    """

    step: float
    tile: float = 1.0

    def of(self, progress: Tensor) -> Tensor:
        """Gamma of steps that make so many pixels of progress."""
        return self.step * self.tile ** (progress / _TILE)


class Steps(NamedTuple):
    """What was collected.

    Attributes:
        rewards: Reward of each step.
        values: The critic's value before each step.
        next_values: Its value of the state after each step: the state in which the episode ended,
            where it did, not the first of the next one.
        terminated: Whether the episode ended by itself with the step.
        ended: Whether it ended in any way, terminated or truncated.
        own: Whether the policy chose the action, or None where it chose all. What others did says
            nothing of the policy: their steps teach nothing, and what comes before them is worth
            what the critic says of the state in which they took over.
    """

    rewards: Tensor
    values: Tensor
    next_values: Tensor
    terminated: Tensor
    ended: Tensor
    own: Tensor | None = None

    def td_errors(self, gamma: float | Tensor) -> Tensor:
        """Reward and value gained by each of the policy's steps, against the value before it."""
        gained = self.rewards + gamma * self.next_values * ~self.terminated - self.values
        return gained if self.own is None else gained.where(self.own, 0.0)


class Advantages(NamedTuple):
    """What a policy is taught with."""

    advantages: Tensor
    returns: Tensor


def gae(steps: Steps, gamma: float | Tensor, gae_lambda: float) -> Advantages:
    """Generalised advantage estimation, with gamma `discount` and lambda `trace`."""
    advantages = _accumulated(steps.td_errors(gamma), gamma * gae_lambda * _goes_on(steps))
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
    """V-trace targets and policy-gradient advantages (IMPALA).

    Args:
        steps: What was collected.
        log_ratios: log(pi / mu) of each action taken: the learner's policy against the one that
            collected.
        gamma: Discount factor, of all steps or of each.
        gae_lambda: Lambda, a further factor on the trace coefficients.
        rho_clip: Bound on the importance weight of a temporal difference.
        c_clip: Bound on the importance weight that a trace carries on.
    """
    ratios = log_ratios.exp()
    rho = ratios.clamp(max=rho_clip)
    carry = gamma * gae_lambda * ratios.clamp(max=c_clip) * _goes_on(steps)
    targets = steps.values + _accumulated(rho * steps.td_errors(gamma), carry)
    # What follows a step is worth its own target, except where the episode ended or the data does.
    following = steps.next_values.clone()
    following[:-1] = torch.where(steps.ended[:-1], steps.next_values[:-1], targets[1:])
    advantages = rho * steps._replace(next_values=following).td_errors(gamma)
    return Advantages(advantages, targets)


def _goes_on(steps: Steps) -> Tensor:
    """Whether what follows a step is a consequence of the policy's choice."""
    return ~steps.ended if steps.own is None else ~steps.ended & steps.own


def _accumulated(terms: Tensor, carry: Tensor) -> Tensor:
    """Sums from the end: each term plus `carry` times the sum after it."""
    result = torch.empty_like(terms)
    total = torch.zeros_like(terms[0])
    for t in range(terms.shape[0] - 1, -1, -1):
        total = terms[t] + carry[t] * total
        result[t] = total
    return result


def explained_variance(predictions: Tensor, targets: Tensor) -> float:
    """Share of the targets' variance that the predictions explain; 0 when there is none."""
    variance = targets.var(unbiased=False)
    if variance <= 0:
        return 0.0
    return float(1.0 - (targets - predictions).var(unbiased=False) / variance)
