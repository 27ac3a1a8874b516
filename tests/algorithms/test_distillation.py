"""Distillation: the loss, the buffer, and a network that follows its targets."""

from __future__ import annotations

import pytest
import torch

from warpzone.algorithms.distillation import DistillationBuffer, distillation_loss
from warpzone.errors import CheckpointError


def test_the_loss_is_the_divergence_from_the_targets() -> None:
    targets = torch.tensor([[0.5, 0.5], [1.0, 0.0]])
    assert distillation_loss(torch.log(targets + 1e-30), targets).item() == pytest.approx(0.0)
    uniform = distillation_loss(torch.zeros(2, 2), targets).item()
    literal = (0.0 + torch.log(torch.tensor(2.0)).item()) / 2
    assert uniform == pytest.approx(literal)


def test_the_gradient_pulls_towards_the_targets() -> None:
    logits = torch.zeros(1, 3, requires_grad=True)
    torch.autograd.backward(distillation_loss(logits, torch.tensor([[0.8, 0.1, 0.1]])))
    assert logits.grad is not None
    assert torch.allclose(
        logits.grad, torch.softmax(torch.zeros(3), -1) - torch.tensor([0.8, 0.1, 0.1])
    )


def test_states_without_weight_have_no_gradient() -> None:
    logits = torch.zeros(2, 3, requires_grad=True)
    targets = torch.tensor([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1]])
    torch.autograd.backward(distillation_loss(logits, targets, torch.tensor([0.0, 1.0])))
    assert logits.grad is not None
    assert not logits.grad[0].any()
    assert logits.grad[1].any()


def states(*numbers: int) -> tuple[dict[str, torch.Tensor], torch.Tensor, torch.Tensor]:
    values = torch.tensor(numbers)
    return {"x": values.unsqueeze(1)}, torch.stack([values.float(), -values.float()], 1), values


def held(buffer: DistillationBuffer) -> set[int]:
    obs, targets, levels = buffer.sample(500, torch.Generator().manual_seed(0))
    assert torch.equal(obs["x"][:, 0].float(), targets[:, 0]), "states keep their own targets"
    assert torch.equal(obs["x"][:, 0], levels), "and their levels"
    return set(obs["x"][:, 0].tolist())


def test_the_newest_states_are_kept() -> None:
    buffer = DistillationBuffer(4)
    buffer.push(*states(1, 2, 3))
    assert held(buffer) == {1, 2, 3}
    buffer.push(*states(4, 5))
    assert held(buffer) == {2, 3, 4, 5}
    buffer.push(*states(*range(10, 20)))
    assert held(buffer) == {16, 17, 18, 19}


def test_a_restored_buffer_draws_the_same_samples_and_overwrites_the_same_states() -> None:
    first, second = DistillationBuffer(5), DistillationBuffer(5)
    for chunk in ((1, 2, 3), (4, 5, 6, 7)):
        first.push(*states(*chunk))
    second.load_state_dict(first.state_dict())
    for buffer in (first, second):
        buffer.push(*states(8))
    for left, right in zip(
        *(b.sample(50, torch.Generator().manual_seed(3)) for b in (first, second)), strict=True
    ):
        assert (
            torch.equal(left["x"], right["x"])
            if isinstance(left, dict)
            else torch.equal(left, right)
        )
    with pytest.raises(CheckpointError, match=r"more than distill\.capacity 2"):
        DistillationBuffer(2).load_state_dict(first.state_dict())
