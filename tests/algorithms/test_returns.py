"""Returns compared with explicit sums, step by step and environment by environment."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from warpzone.algorithms.returns import Steps, discount_factors, explained_variance, gae, vtrace


def discounts_of(kind: str) -> float | Tensor:
    """Returns one gamma for all steps, or one per step that depends on its exponent."""
    if kind == "by time":
        return 0.93
    progress = torch.randint(0, 60, (9, 4), generator=torch.Generator().manual_seed(3))
    return discount_factors(0.99, 0.9, progress.double() / 16.0)


KINDS = pytest.mark.parametrize("kind", ["by time", "by distance"])


def random_rollout(seed: int, steps: int = 9, envs: int = 4) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)

    def normal() -> Tensor:
        return torch.randn(steps, envs, generator=generator, dtype=torch.float64)

    values = normal()
    next_values = torch.cat([values[1:], torch.randn(1, envs, generator=generator).double()])
    terminated = torch.rand(steps, envs, generator=generator) < 0.2
    truncated = (torch.rand(steps, envs, generator=generator) < 0.2) & ~terminated
    # After a truncation, the next state is not the next observation of the rollout.
    next_values = torch.where(truncated, normal(), next_values)
    return {
        "rewards": normal(),
        "values": values,
        "next_values": next_values,
        "terminated": terminated,
        "ended": terminated | truncated,
    }


def literal_gae(r: dict[str, Tensor], gamma: float | Tensor, gae_lambda: float) -> Tensor:
    discounts = gamma * torch.ones_like(r["rewards"])
    steps, envs = r["rewards"].shape
    result = torch.zeros(steps, envs, dtype=torch.float64)
    for env in range(envs):
        for start in range(steps):
            weight, total = 1.0, 0.0
            for t in range(start, steps):
                bootstrap = 0.0 if r["terminated"][t, env] else r["next_values"][t, env].item()
                delta = (
                    r["rewards"][t, env].item()
                    + discounts[t, env].item() * bootstrap
                    - r["values"][t, env].item()
                )
                total += weight * delta
                if r["ended"][t, env]:
                    break
                weight *= discounts[t, env].item() * gae_lambda
            result[start, env] = total
    return result


def literal_vtrace(
    r: dict[str, Tensor], log_ratios: Tensor, gamma: float | Tensor, gae_lambda: float
) -> tuple[Tensor, Tensor]:
    discounts = gamma * torch.ones_like(r["rewards"])
    steps, envs = r["rewards"].shape
    targets = torch.zeros(steps, envs, dtype=torch.float64)
    advantages = torch.zeros(steps, envs, dtype=torch.float64)
    for env in range(envs):
        for start in range(steps):
            product, total = 1.0, 0.0
            for t in range(start, steps):
                ratio = math.exp(log_ratios[t, env].item())
                rho, c = min(1.0, ratio), gae_lambda * min(1.0, ratio)
                bootstrap = 0.0 if r["terminated"][t, env] else r["next_values"][t, env].item()
                delta = rho * (
                    r["rewards"][t, env].item()
                    + discounts[t, env].item() * bootstrap
                    - r["values"][t, env].item()
                )
                total += product * delta
                if r["ended"][t, env]:
                    break
                product *= discounts[t, env].item() * c
            targets[start, env] = r["values"][start, env] + total
        for t in range(steps):
            if r["terminated"][t, env]:
                following = 0.0
            elif r["ended"][t, env] or t == steps - 1:
                following = r["next_values"][t, env].item()
            else:
                following = targets[t + 1, env].item()
            rho = min(1.0, math.exp(log_ratios[t, env].item()))
            advantages[t, env] = rho * (
                r["rewards"][t, env].item()
                + discounts[t, env].item() * following
                - r["values"][t, env].item()
            )
    return targets, advantages


@KINDS
@pytest.mark.parametrize("seed", range(5))
def test_gae_equals_the_explicit_sum(seed: int, kind: str) -> None:
    rollout, gamma = random_rollout(seed), discounts_of(kind)
    advantages, returns = gae(Steps(**rollout), gamma=gamma, gae_lambda=0.8)
    expected = literal_gae(rollout, gamma, 0.8)
    torch.testing.assert_close(advantages, expected)
    torch.testing.assert_close(returns, expected + rollout["values"])


@KINDS
@pytest.mark.parametrize("seed", range(5))
def test_vtrace_equals_the_explicit_sum(seed: int, kind: str) -> None:
    rollout, gamma = random_rollout(seed), discounts_of(kind)
    generator = torch.Generator().manual_seed(100 + seed)
    log_ratios = torch.randn(9, 4, generator=generator, dtype=torch.float64) * 0.5
    advantages, targets = vtrace(
        Steps(**rollout), log_ratios=log_ratios, gamma=gamma, gae_lambda=0.9
    )
    expected_targets, expected_advantages = literal_vtrace(rollout, log_ratios, gamma, 0.9)
    torch.testing.assert_close(targets, expected_targets)
    torch.testing.assert_close(advantages, expected_advantages)


def test_vtrace_with_the_same_policy_has_the_returns_of_gae() -> None:
    rollout = random_rollout(1)
    on_policy = torch.zeros(9, 4, dtype=torch.float64)
    _, targets = vtrace(Steps(**rollout), log_ratios=on_policy, gamma=0.9, gae_lambda=0.7)
    _, returns = gae(Steps(**rollout), gamma=0.9, gae_lambda=0.7)
    torch.testing.assert_close(targets, returns)


def test_truncated_episodes_are_bootstrapped_and_terminated_ones_are_not() -> None:
    one = torch.ones(1, 1)
    for terminated, expected in ((True, 1.0), (False, 1.0 + 0.5 * 10.0)):
        steps = Steps(
            rewards=one,
            values=torch.zeros(1, 1),
            next_values=10.0 * one,
            terminated=torch.tensor([[terminated]]),
            ended=torch.tensor([[True]]),
        )
        _, returns = gae(steps, gamma=0.5, gae_lambda=0.9)
        assert returns.item() == pytest.approx(expected)


def test_waiting_costs_nothing_if_only_distance_is_discounted() -> None:
    def worth(progress: list[float], gamma: float, progress_gamma: float = 1.0) -> float:
        covered = torch.tensor(progress).unsqueeze(1)
        nothing = torch.zeros_like(covered)
        ended = nothing.bool()
        ended[-1] = True
        steps = Steps(0.01 * covered, nothing, nothing, ended, ended)
        factors = discount_factors(gamma, progress_gamma, covered / 16.0)
        return float(gae(steps, factors, gae_lambda=1.0).returns[0])

    at_once, later = [16.0, 16.0, 16.0], [0.0, 0.0, 16.0, 0.0, 16.0, 16.0]
    assert worth(at_once, 1.0, 0.5) == pytest.approx(0.16 * (1 + 0.5 + 0.25))
    assert worth(later, 1.0, 0.5) == pytest.approx(worth(at_once, 1.0, 0.5))
    assert worth(later, 0.97) < worth(at_once, 0.97)


def test_explained_variance_is_one_for_perfect_and_zero_for_constant_predictions() -> None:
    targets = torch.tensor([1.0, 2.0, 3.0])
    assert explained_variance(targets, targets) == pytest.approx(1.0)
    assert explained_variance(torch.zeros(3), targets) == pytest.approx(0.0)
    assert explained_variance(targets, torch.ones(3)) == 0.0


@pytest.mark.parametrize("algorithm", ["gae", "vtrace"])
def test_overridden_steps_have_no_advantage_and_cut_earlier_traces(algorithm: str) -> None:
    rollout = random_rollout(11)
    log_ratios = torch.randn(9, 4, dtype=torch.float64) * 0.3
    by_policy = torch.ones(9, 4, dtype=torch.bool)
    by_policy[4:6] = False

    def results(rewards: Tensor, ended: Tensor, by_policy: Tensor | None) -> tuple[Tensor, Tensor]:
        steps = Steps(**(rollout | {"rewards": rewards, "ended": ended}), by_policy=by_policy)
        if algorithm == "gae":
            return gae(steps, 0.9, 0.8)
        return vtrace(steps, log_ratios, 0.9, 0.8)

    advantages, targets = results(rollout["rewards"], rollout["ended"], by_policy)
    # Whatever the overridden steps earned,
    other = torch.where(by_policy, rollout["rewards"], 1e6)
    again, again_targets = results(other, rollout["ended"], by_policy)
    assert torch.equal(advantages, again)
    assert torch.equal(targets, again_targets)
    assert (advantages[4:6] == 0).all()
    assert torch.equal(targets[4:6], rollout["values"][4:6])
    # the steps before are valued as if the episode had been truncated there.
    cut = rollout["ended"].clone()
    cut[3] = True
    before, _ = results(rollout["rewards"], cut, None)
    torch.testing.assert_close(advantages[:4], before[:4])
    everything = torch.ones(9, 4, dtype=torch.bool)
    for one, two in zip(
        results(rollout["rewards"], rollout["ended"], everything),
        results(rollout["rewards"], rollout["ended"], None),
        strict=True,
    ):
        assert torch.equal(one, two)
