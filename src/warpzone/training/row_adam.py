"""Adam with a native step for the largest weight of a network.

Several threads take the step, and it clips the gradient in the same pass. It skips rows that have
never had a gradient: most weights of the tile network belong to inputs that have never been active.
Their gradient and moments are zero, so Adam would not change them: skipping them gives the same
weights. The state dict is that of `torch.optim.Adam`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from warpzone import _native

_EPSILON = 1e-6  # As in `torch.nn.utils.clip_grad_norm_`.


class RowAdam(torch.optim.Adam):
    """Adam with a native step for one matrix of weights."""

    def __init__(self, parameters: Iterable[Tensor], weight: Tensor, threads: int, **options: Any):
        """Creates the optimizer.

        Args:
            parameters: All parameters.
            weight: Matrix that is contiguous in memory, or was passed to `store_by_input`.
            threads: Number of threads for the step.
            options: Options of `torch.optim.Adam`, without weight decay.
        """
        super().__init__(parameters, **options)
        self._weight = weight
        self._is_by_input = not weight.is_contiguous()
        rows, width = reversed(weight.shape) if self._is_by_input else weight.shape
        self._rows = _native.RowAdam(rows, width, threads)
        self._scale = 1.0

    @torch.no_grad()
    def clip_grad_norm(self, max_norm: float) -> float:
        """Clips gradients as `torch.nn.utils.clip_grad_norm_` does, and returns their norm.

        The gradient of the native weight is not changed; `step` applies the factor.
        """
        gradients = [
            parameter.grad
            for group in self.param_groups
            for parameter in group["params"]
            if parameter.grad is not None and parameter is not self._weight
        ]
        squares = torch.stack(torch._foreach_norm(gradients)).double().square().sum()
        gradient = self._weight.grad
        rows = 0.0 if gradient is None else self._rows.look(self._as_rows(gradient))
        norm = math.sqrt(float(squares) + rows)
        self._scale = min(1.0, max_norm / (norm + _EPSILON))
        if self._scale < 1.0:
            torch._foreach_mul_(gradients, self._scale)
        return norm

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Takes a step; `clip_grad_norm` must be called first."""
        weight, gradient = self._weight, self._weight.grad
        weight.grad = None  # Adam skips parameters without a gradient.
        loss: float | None = super().step(closure)
        weight.grad = gradient
        if gradient is not None:  # Otherwise it is frozen.
            self._step_rows(gradient)
        return loss

    def _step_rows(self, gradient: Tensor) -> None:
        weight, group = self._weight, self.param_groups[0]
        state = self.state[weight]
        if not state:
            state["step"] = torch.tensor(0.0)
            state["exp_avg"] = torch.zeros_like(weight)
            state["exp_avg_sq"] = torch.zeros_like(weight)
        state["step"] += 1
        count, (beta1, beta2) = int(state["step"]), group["betas"]
        self._rows.step(
            self._as_rows(gradient),
            self._as_rows(weight),
            self._as_rows(state["exp_avg"]),
            self._as_rows(state["exp_avg_sq"]),
            rate=group["lr"] / (1.0 - beta1**count),
            beta1=beta1,
            beta2=beta2,
            correction=1.0 / math.sqrt(1.0 - beta2**count),
            epsilon=group["eps"],
            scale=self._scale,
        )
        self._scale = 1.0

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores the state of this optimizer or of `torch.optim.Adam`."""
        super().load_state_dict(state_dict)
        state = self.state[self._weight]
        if state:
            for name in ("exp_avg", "exp_avg_sq"):
                state[name] = torch.empty_like(self._weight).copy_(state[name])
            self._rows.load(self._as_rows(state["exp_avg"]), self._as_rows(state["exp_avg_sq"]))

    def _as_rows(self, tensor: Tensor) -> NDArray[np.float32]:
        """Returns a matrix row by row; shares memory if it is stored like the weight."""
        matrix = tensor.detach()
        rows: NDArray[np.float32] = (
            (matrix.t() if self._is_by_input else matrix).contiguous().numpy()
        )
        return rows
