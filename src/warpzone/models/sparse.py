"""The first layer of the tile network over lists of active inputs, as a differentiable function.

Equal to a dense linear layer and a ReLU, without ever making the wide vectors. Native code computes
the sums; it is passed in, so nothing here depends on it.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

ACTIVE = "active"
"""Name of the part of an observation that lists its active inputs."""
LIST_DTYPE = torch.int16
"""Of lists as tensors: the same bits as uint16, for which PyTorch has few operations."""


class SparseKernel(Protocol):
    """What computes: `_native.SparseLinear`. Arrays may be CPU tensors."""

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
        """Overwrites the gradients of weight and bias; zeros of `out` pass nothing on."""


class ActiveBatch(NamedTuple):
    """Samples by number, from a store of lists of active inputs.

    Attributes:
        kernel: What computes with the lists.
        store: Lists of all samples, [count, capacity].
        chosen: Numbers of the samples in this batch, int64.
    """

    kernel: SparseKernel
    store: NDArray[np.uint16]
    chosen: Tensor


class ListReader:
    """Runs a first layer on lists.

    Copies of a network share it: it has no weights, and native code cannot be copied.
    """

    def __init__(self, kernel: SparseKernel):
        """Takes what computes."""
        self._kernel = kernel

    def __deepcopy__(self, memo: dict[int, Any]) -> ListReader:
        """Returns the same reader."""
        return self

    def linear_relu(self, layer: nn.Linear, lists: Tensor) -> Tensor:
        """Returns relu(layer(inputs)), [B, outputs], for lists, [B, capacity]."""
        store = lists.contiguous().numpy().view(np.uint16)
        return sparse_linear_relu(layer, ActiveBatch(self._kernel, store, torch.arange(len(lists))))


def sparse_linear_relu(layer: nn.Linear, batch: ActiveBatch) -> Tensor:
    """Returns relu(layer(inputs of the batch)), [B, outputs], in full precision.

    Args:
        layer: On the CPU. It is quickest when `store_by_input` has arranged it.
        batch: The samples.
    """
    result: Tensor = _SparseLinearRelu.apply(  # type: ignore[no-untyped-call]
        layer.weight, layer.bias, batch
    )
    return result


@torch.no_grad()
def store_by_input(layer: nn.Linear) -> None:
    """Arranges a layer's weights in memory so that those of an input lie together.

    Shape, values and state dict stay as they are. Do this before an optimizer is made: it arranges
    its state like the weights.
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
