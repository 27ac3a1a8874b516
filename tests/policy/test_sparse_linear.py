"""The sparse first layer equals the dense one, forward and backward."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch
from policy_support import (
    LEVELS,
    Observations,
    dense,
    layout_of,
    listed,
    make_encoder,
    played,
)
from torch import Tensor, nn
from torch.nn import functional

from warpzone import _native
from warpzone.errors import ConfigError
from warpzone.models.sparse import ActiveBatch, sparse_linear_relu, store_by_input
from warpzone.models.tree import to_tensors

#: Relative to the sum of the absolute values of all terms of a sum, for float32 in any order.
TOLERANCE = 2e-6


@pytest.fixture(scope="module")
def observations(rom_path: object) -> Observations:
    return played(LEVELS, 60)


def make_layer(outputs: int) -> nn.Linear:
    torch.manual_seed(2)
    layer = nn.Linear(make_encoder().first.in_features, outputs)
    nn.init.normal_(layer.weight, 0.0, 0.05)
    return layer


def batch_of(obs: Observations, chosen: Tensor, **options: Any) -> ActiveBatch:
    layout = layout_of(make_encoder())
    return ActiveBatch(_native.SparseLinear(layout, **options), listed(layout, obs), chosen)


def gradients_of(layer: nn.Linear, out: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    layer.zero_grad(set_to_none=True)
    torch.autograd.backward((out * weights).sum())
    assert layer.weight.grad is not None
    assert layer.bias.grad is not None
    return layer.weight.grad, layer.bias.grad


@pytest.mark.parametrize("instructions", _native.instruction_sets())
@pytest.mark.parametrize("outputs", [256, 250, 37, 1])
def test_outputs_and_gradients_are_those_of_the_dense_layer(
    instructions: str, outputs: int, observations: Observations
) -> None:
    layer = make_layer(outputs)
    chosen = torch.randperm(len(observations.features))[:600]
    batch = batch_of(observations, chosen, threads=2, instructions=instructions)
    inputs = torch.from_numpy(dense(make_encoder(), observations))[chosen]
    # Near zero the two may disagree about the sign, and so about whether there is a gradient.
    clear = layer(inputs).detach().abs() > 1e-4
    weights = torch.randn(len(chosen), outputs) * clear

    expected = functional.relu(layer(inputs))
    expected_weight, expected_bias = gradients_of(layer, expected, weights)
    found = sparse_linear_relu(layer, batch)
    found_weight, found_bias = gradients_of(layer, found, weights)

    with torch.no_grad():
        size = functional.linear(inputs.abs(), layer.weight.abs(), layer.bias.abs())
        torch.testing.assert_close(found / size, expected / size, rtol=0, atol=TOLERANCE)
        largest_input = 2.0
        size = ((expected > 0) * weights.abs()).sum(0) * largest_input + 1e-6
        torch.testing.assert_close(found_bias / size, expected_bias / size, rtol=0, atol=TOLERANCE)
        apart = (found_weight - expected_weight) / size.unsqueeze(1)
        torch.testing.assert_close(apart, torch.zeros_like(apart), rtol=0, atol=TOLERANCE)


def test_results_do_not_depend_on_the_number_of_threads(observations: Observations) -> None:
    layer = make_layer(200)
    chosen = torch.randperm(len(observations.features))[:700]
    weights = torch.randn(len(chosen), 200)
    results = []
    for threads in (1, 2, 3, 7):
        batch = batch_of(observations, chosen, threads=threads)
        out = sparse_linear_relu(layer, batch)
        results.append((out.detach(), *gradients_of(layer, out, weights)))
    for result in results[1:]:
        for first, other in zip(results[0], result, strict=True):
            assert torch.equal(first, other)


def test_weights_stored_by_input_give_the_same_and_keep_their_place(
    observations: Observations,
) -> None:
    layer, arranged = make_layer(64), make_layer(64)
    store_by_input(arranged)
    assert arranged.weight.t().is_contiguous()
    assert torch.equal(layer.weight, arranged.weight)
    chosen = torch.arange(100)
    batch = batch_of(observations, chosen)
    optimizer = torch.optim.Adam(arranged.parameters(), lr=1e-3)
    torch.autograd.backward(sparse_linear_relu(arranged, batch).sum())
    assert arranged.weight.grad is not None
    assert arranged.weight.grad.stride() == arranged.weight.stride()
    optimizer.step()
    arranged.load_state_dict(layer.state_dict())
    assert arranged.weight.t().is_contiguous()
    assert torch.equal(sparse_linear_relu(layer, batch), sparse_linear_relu(arranged, batch))


def test_the_function_passes_a_gradient_check() -> None:
    class InDoublePrecision:
        """Computes literally, in the precision that a numerical derivative needs."""

        inputs = torch.randn(5, 7, dtype=torch.float64)

        def forward(
            self,
            store: Any,
            chosen: Tensor,
            weight: Tensor,
            bias: Tensor,
            *,
            rectify: bool,
            out: Any,
        ) -> None:
            out.copy_(functional.relu(self.inputs[chosen] @ weight + bias))

        def gradient(
            self,
            store: Any,
            chosen: Tensor,
            *,
            out: Tensor,
            out_gradient: Tensor,
            weight_gradient: Tensor,
            bias_gradient: Tensor,
        ) -> None:
            passed = out_gradient.where(out > 0, 0.0)
            weight_gradient.copy_(self.inputs[chosen].t() @ passed)
            bias_gradient.copy_(passed.sum(0))

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        layer = nn.Linear(7, 4)
        batch = ActiveBatch(
            InDoublePrecision(), np.zeros((5, 1), np.uint16), torch.tensor([0, 3, 1])
        )

        def outputs(weight: Tensor, bias: Tensor) -> Tensor:
            return torch.func.functional_call(  # type: ignore[no-any-return]
                _Through(layer, batch), {"layer.weight": weight, "layer.bias": bias}, ()
            )

        assert torch.autograd.gradcheck(outputs, (layer.weight, layer.bias))
    finally:
        torch.set_default_dtype(before)


class _Through(nn.Module):
    def __init__(self, layer: nn.Linear, batch: ActiveBatch):
        super().__init__()
        self.layer, self.batch = layer, batch

    def forward(self) -> Tensor:
        return sparse_linear_relu(self.layer, self.batch)


def test_an_empty_batch_has_no_gradient(observations: Observations) -> None:
    layer = make_layer(48)
    batch = batch_of(observations, torch.zeros(0, dtype=torch.int64))
    out = sparse_linear_relu(layer, batch)
    assert out.shape == (0, 48)
    weight, bias = gradients_of(layer, out, torch.zeros(0, 48))
    assert not weight.any()
    assert not bias.any()


def test_samples_that_do_not_exist_or_are_damaged_are_refused(observations: Observations) -> None:
    layer = make_layer(16)
    batch = batch_of(observations, torch.tensor([0, len(observations.features)]))
    with pytest.raises(ConfigError, match=r"sample \d+ is not in the store"):
        sparse_linear_relu(layer, batch)
    batch.store[3, 1] = 65_535
    with pytest.raises(ConfigError, match="sample 3 are damaged"):
        sparse_linear_relu(layer, batch._replace(chosen=torch.tensor([3])))


def test_arrays_of_the_wrong_size_are_refused(observations: Observations) -> None:
    layer = make_layer(16)
    batch = batch_of(observations, torch.tensor([0]))
    with pytest.raises(ConfigError, match="weight has"):
        batch.kernel.forward(
            batch.store,
            batch.chosen,
            torch.zeros(3, 16),
            layer.bias.detach(),
            rectify=False,
            out=torch.zeros(1, 16),
        )


def test_unknown_instructions_are_refused() -> None:
    with pytest.raises(ConfigError, match="instructions is 'mmx'; this machine has 'auto'"):
        _native.SparseLinear(layout_of(make_encoder()), instructions="mmx")


def test_the_encoder_takes_lists_in_place_of_observations_and_so_do_copies(
    observations: Observations,
) -> None:
    encoder = copy.deepcopy(make_encoder())
    layout = layout_of(make_encoder())
    encoder.read_lists_with(_native.SparseLinear(layout))
    lists = torch.from_numpy(listed(layout, observations).view(np.int16))
    expected = encoder(to_tensors(observations._asdict()))
    for reader in (encoder, copy.deepcopy(encoder)):
        for obs in ({"active": lists}, reader.prepare({"active": lists})):
            torch.testing.assert_close(reader(obs), expected, rtol=0, atol=1e-5)
