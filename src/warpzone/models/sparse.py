"""First layer of the tile network over lists of active inputs, as a differentiable function.

Equivalent to a dense linear layer and a ReLU, without materializing the wide input vectors. The
native kernel that computes the sums is passed in, so this module does not depend on it.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

ACTIVE = "active"
"""Name of the observation part that holds the list of active inputs."""
LIST_DTYPE = torch.int16
"""Dtype of lists as tensors: the bits of uint16, which few PyTorch operations support."""

_HEADER = 2  # Slots with the number of inputs of value 1, and of inputs with other values.


class SparseKernel(Protocol):
    """Interface of `_native.SparseLinear`; arrays may be CPU tensors."""

    def forward(
        self, store: Any, chosen: Any, weight: Any, bias: Any, *, rectify: bool, out: Any
    ) -> None:
        """Writes the outputs of the chosen rows; `weight` is [inputs, outputs]."""

    def gradient(
        self,
        store: Any,
        chosen: Any,
        *,
        out: Any,
        out_gradient: Any,
        weight_gradient: Any,
        bias_gradient: Any,
    ) -> None:
        """Overwrites the gradients of weight and bias; zeros in `out` block the gradient."""


class ActiveBatch(NamedTuple):
    """Batch of samples, chosen by index from a store of lists of active inputs.

    Attributes:
        kernel: Kernel that computes on the lists.
        store: Lists of all samples, [count, slots].
        chosen: Indices of the samples in this batch, int64.
    """

    kernel: SparseKernel
    store: NDArray[np.uint16]
    chosen: Tensor


def trimmed(lists: Tensor) -> Tensor:
    """Removes the slots that no list uses, [..., slots]; most lists have room for far more."""
    ones, pairs = lists[..., 0], lists[..., 1]
    return lists[..., : int((_HEADER + ones + 2 * pairs).max())].contiguous()


class ListReader:
    """Runs a first layer on lists of active inputs.

    Copies of a network share the reader: it has no weights, and its native kernel cannot be copied.
    """

    def __init__(self, kernel: SparseKernel):
        """Stores the kernel."""
        self._kernel = kernel

    def __deepcopy__(self, memo: dict[int, Any]) -> ListReader:
        """Returns the same reader."""
        return self

    def linear_relu(self, layer: nn.Linear, lists: Tensor) -> Tensor:
        """Returns relu(layer(inputs)), [B, outputs], for lists, [B, slots]."""
        store = lists.contiguous().numpy().view(np.uint16)
        return sparse_linear_relu(layer, ActiveBatch(self._kernel, store, torch.arange(len(lists))))


def sparse_linear_relu(layer: nn.Linear, batch: ActiveBatch) -> Tensor:
    """Returns relu(layer(inputs of the batch)), [B, outputs], in full precision.

    Args:
        layer: Layer on the CPU; fastest after `store_by_input`.
        batch: Samples to evaluate.
    """
    result: Tensor = _SparseLinearRelu.apply(  # type: ignore[no-untyped-call]
        layer.weight, layer.bias, batch
    )
    return result


@torch.no_grad()
def store_by_input(layer: nn.Linear) -> None:
    """Stores a layer's weights in memory so that the weights of each input are contiguous.

    Shape, values and state dict do not change. Call this before creating an optimizer, whose state
    takes the memory layout of the weights.
    """
    layer.weight.data = layer.weight.data.t().contiguous().t()


class _SparseLinearRelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, bias: Tensor, batch: ActiveBatch) -> Tensor:
        out = torch.empty(len(batch.chosen), len(bias))
        by_input = weight.detach().t().contiguous()
        batch.kernel.forward(
            batch.store, batch.chosen, by_input, bias.detach(), rectify=True, out=out
        )
        ctx.save_for_backward(out)
        ctx.batch, ctx.inputs = batch, weight.shape[1]
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        (out,) = ctx.saved_tensors
        weight_gradient = torch.empty(ctx.inputs, out.shape[1])
        bias_gradient = torch.empty(out.shape[1])
        batch: ActiveBatch = ctx.batch
        batch.kernel.gradient(
            batch.store,
            batch.chosen,
            out=out,
            out_gradient=gradients[0].contiguous(),
            weight_gradient=weight_gradient,
            bias_gradient=bias_gradient,
        )
        return weight_gradient.t(), bias_gradient, None
