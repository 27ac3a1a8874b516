"""Adam over used rows gives the same weights as Adam over all rows."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from warpzone.models.sparse import store_by_input
from warpzone.training.row_adam import RowAdam

INPUTS, OUTPUTS = 300, 37
#: Of weights around 0.1 after steps of 0.01, in float32.
TOLERANCE = 1e-6


class Pair:
    """Returns two equal layers, one per optimizer."""

    def __init__(self, threads: int = 1, by_input: bool = True) -> None:
        torch.manual_seed(0)
        self.ours = nn.Sequential(nn.Linear(INPUTS, OUTPUTS), nn.Linear(OUTPUTS, 3))
        self.theirs = copy.deepcopy(self.ours)
        if by_input:
            store_by_input(self.ours[0])  # type: ignore[arg-type]
        self.row_adam = self.make_row_adam(threads)
        self.adam = torch.optim.Adam(self.theirs.parameters(), lr=1e-2, eps=1e-5)

    def make_row_adam(self, threads: int = 1) -> RowAdam:
        weight = self.ours[0].weight
        assert isinstance(weight, nn.Parameter)
        return RowAdam(self.ours.parameters(), weight, threads, lr=1e-2, eps=1e-5, fused=True)

    def step(self, seed: int, max_norm: float = 0.5, size: float = 1.0) -> tuple[float, float]:
        generator = torch.Generator().manual_seed(seed)
        for ours, theirs in zip(self.ours.parameters(), self.theirs.parameters(), strict=True):
            gradient = size * torch.randn(theirs.shape, generator=generator)
            if ours is self.ours[0].weight:
                # Two thirds of the inputs are never active, the others now and then.
                active = torch.rand(INPUTS, generator=generator) < 0.4
                gradient[:, ~active] = 0.0
                gradient[:, INPUTS // 3 :] = 0.0
            ours.grad = torch.empty_like(ours).copy_(gradient)
            theirs.grad = gradient.clone()
        norms = (
            self.row_adam.clip_grad_norm(max_norm),
            float(nn.utils.clip_grad_norm_(self.theirs.parameters(), max_norm)),
        )
        self.row_adam.step()
        self.adam.step()
        return norms

    def assert_same(self) -> None:
        for ours, theirs in zip(self.ours.parameters(), self.theirs.parameters(), strict=True):
            torch.testing.assert_close(ours, theirs, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("by_input", [True, False])
@pytest.mark.parametrize("max_norm", [0.5, 1e6])
def test_weights_and_norms_are_those_of_adam(max_norm: float, by_input: bool) -> None:
    pair = Pair(by_input=by_input)
    for seed in range(20):
        ours, theirs = pair.step(seed, max_norm)
        assert ours == pytest.approx(theirs, rel=1e-5)
        pair.assert_same()


def test_rows_without_gradients_do_not_change() -> None:
    pair = Pair()
    before = pair.ours[0].weight.detach().clone()
    for seed in range(5):
        pair.step(seed)
    after = pair.ours[0].weight.detach()
    assert torch.equal(before[:, INPUTS // 3 :], after[:, INPUTS // 3 :])
    assert not torch.equal(before, after)


def test_gradients_whose_squares_vanish_still_count() -> None:
    pair = Pair()
    pair.step(0, size=1e-25)
    state = pair.row_adam.state[pair.ours[0].weight]
    assert (state["exp_avg"] != 0).any()
    pair.assert_same()


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    pairs = [Pair(threads) for threads in (1, 3)]
    for seed in range(5):
        norms = {pair.step(seed)[0] for pair in pairs}
        assert len(norms) == 1
    assert torch.equal(pairs[0].ours[0].weight, pairs[1].ours[0].weight)


@pytest.mark.parametrize("by_input", [True, False])
def test_state_is_that_of_adam_and_can_be_loaded_from_it(by_input: bool) -> None:
    pair = Pair(by_input=by_input)
    for seed in range(3):
        pair.step(seed)
    saved = [copy.deepcopy(o.state_dict()) for o in (pair.row_adam, pair.adam)]
    assert saved[0]["state"].keys() == saved[1]["state"].keys()
    for name, value in saved[1]["state"][0].items():
        torch.testing.assert_close(saved[0]["state"][0][name], value, rtol=0, atol=TOLERANCE)
    for state in saved:
        pair.row_adam = pair.make_row_adam()
        # Optimizers take over the tensors of a state.
        pair.row_adam.load_state_dict(copy.deepcopy(state))
        pair.adam.load_state_dict(copy.deepcopy(saved[1]))
        pair.step(9)
        pair.assert_same()


def test_gradients_that_are_not_numbers_show_in_the_norm() -> None:
    pair = Pair()
    pair.step(0)
    weight = pair.ours[0].weight
    for parameter in pair.ours.parameters():
        parameter.grad = torch.zeros_like(parameter)
    weight.grad[0, 0] = torch.nan
    assert pair.row_adam.clip_grad_norm(0.5) != pair.row_adam.clip_grad_norm(0.5)
