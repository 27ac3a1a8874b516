"""Losses against their definitions."""

from __future__ import annotations

import math

import pytest
import torch

from warpzone.algorithms.losses import (
    masked_mean,
    normalized,
    ppo_policy_loss,
    value_loss,
    vtrace_policy_loss,
)


@pytest.mark.parametrize(
    ("ratio", "advantage", "expected"),
    [
        (1.0, 2.0, 2.0),
        (1.5, 2.0, 1.2 * 2.0),  # Clipped at 1 + clip_coef for a good action,
        (0.5, 2.0, 0.5 * 2.0),  # but not below 1;
        (0.5, -2.0, 0.8 * -2.0),  # the reverse for a bad action.
        (1.5, -2.0, 1.5 * -2.0),
    ],
)
def test_ppo_takes_the_worse_of_plain_and_clipped(
    ratio: float, advantage: float, expected: float
) -> None:
    result = ppo_policy_loss(
        torch.tensor([math.log(ratio)]), torch.zeros(1), torch.tensor([advantage]), clip_coef=0.2
    )
    assert result.loss.item() == pytest.approx(-expected, rel=1e-5)


def test_masked_steps_have_no_gradient_and_leave_the_others_untouched() -> None:
    log_probs = torch.tensor([0.1, -0.2, 0.3], requires_grad=True)
    mask = torch.tensor([True, False, True])
    advantages = torch.tensor([1.0, 5.0, -1.0])
    ppo_policy_loss(log_probs, torch.zeros(3), advantages, 0.2, mask).loss.backward()
    alone = torch.tensor([0.1, 0.3], requires_grad=True)
    ppo_policy_loss(alone, torch.zeros(2), advantages[mask], 0.2).loss.backward()
    assert log_probs.grad is not None
    assert alone.grad is not None
    assert log_probs.grad[1] == 0
    torch.testing.assert_close(log_probs.grad[mask], alone.grad)


def test_vtrace_loss_is_the_policy_gradient() -> None:
    log_probs = torch.tensor([0.5, -1.0], requires_grad=True)
    vtrace_policy_loss(log_probs, torch.zeros(2), torch.tensor([2.0, -4.0])).loss.backward()
    torch.testing.assert_close(log_probs.grad, torch.tensor([-1.0, 2.0]))


def test_kl_is_zero_for_the_same_policy_and_positive_otherwise() -> None:
    zeros = torch.zeros(4)
    assert ppo_policy_loss(zeros, zeros, zeros, 0.2).approx_kl.item() == 0.0
    moved = torch.tensor([0.3, -0.3, 0.1, -0.5])
    assert ppo_policy_loss(moved, zeros, zeros, 0.2).approx_kl.item() > 0.0


def test_normalized_advantages_have_mean_zero_and_deviation_one() -> None:
    result = normalized(torch.tensor([1.0, 2.0, 6.0, -3.0]))
    assert result.mean().item() == pytest.approx(0.0, abs=1e-6)
    assert result.std().item() == pytest.approx(1.0, rel=1e-5)


def test_the_mean_of_an_empty_mask_is_zero() -> None:
    assert masked_mean(torch.tensor([3.0]), torch.tensor([False])).item() == 0.0


def test_value_loss_is_quadratic_near_the_target_and_linear_far_away() -> None:
    assert value_loss(torch.tensor([0.5]), torch.zeros(1)).item() == pytest.approx(0.125)
    assert value_loss(torch.tensor([10.0]), torch.zeros(1)).item() == pytest.approx(9.5)


def test_extreme_masked_values_leave_the_other_ratios_bit_equal() -> None:
    generator = torch.Generator().manual_seed(0)
    new, old, advantages = (torch.randn(500, generator=generator) for _ in range(3))
    own = torch.rand(500, generator=generator) < 0.7
    losses, gradients = [], []
    for forced in (0.0, 300.0, -300.0):  # exp(600) overflows.
        log_probs = new.where(own, torch.tensor(forced)).requires_grad_()
        old_log_probs = old.where(own, torch.tensor(-forced))
        result = ppo_policy_loss(log_probs, old_log_probs, advantages, 0.2, own)
        result.loss.backward()
        assert log_probs.grad is not None
        assert (log_probs.grad[~own] == 0).all()
        losses.append(torch.stack(result))
        gradients.append(log_probs.grad)
    for loss, gradient in zip(losses[1:], gradients[1:], strict=True):
        assert torch.equal(loss, losses[0])
        assert torch.equal(gradient, gradients[0])


def test_value_loss_excludes_masked_steps() -> None:
    values, returns = torch.tensor([1.0, 5.0]), torch.tensor([0.0, float("inf")])
    mask = torch.tensor([True, False])
    assert value_loss(values, returns, mask).item() == pytest.approx(0.5)
