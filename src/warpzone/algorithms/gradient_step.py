"""One optimizer step with its guards: scaling, clipping, skipping of unusable gradients."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from warpzone.config import LearnOptions


class LearnerError(RuntimeError):
    """Too many gradients in a row were unusable."""


class GradientStep:
    """Accumulates gradients and applies them, unless they are unusable."""

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        options: LearnOptions,
        scaler: torch.amp.GradScaler | None = None,
    ):
        """Takes the parts.

        Args:
            model: The network that learns.
            optimizer: Over its parameters.
            options: Limits of the gradient norm and of skipped steps.
            scaler: Keeps small gradients of float16 from vanishing; other precisions need none.
        """
        self.optimizer, self.skipped = optimizer, 0
        self._model, self._options = model, options
        self._scaler = scaler or torch.amp.GradScaler(enabled=False)
        self._skipped_in_a_row = 0
        self._finite = True  # All losses whose gradients are accumulated.

    def set_options(self, options: LearnOptions) -> None:
        """Takes limits that were changed between two updates."""
        self._options = options

    def accumulate(self, loss: Tensor, share: float = 1.0) -> float:
        """Adds the gradient of a share of a loss, and returns the loss."""
        torch.autograd.backward(self._scaler.scale(loss * share))
        value = loss.item()
        self._finite = self._finite and math.isfinite(value)
        return value

    def apply(self) -> float:
        """Takes an optimizer step and returns the norm of the gradient.

        A gradient that is not finite, or too large, is skipped and counted.

        Raises:
            LearnerError: Too many were skipped in a row.
        """
        options = self._options
        self._scaler.unscale_(self.optimizer)
        norm = float(nn.utils.clip_grad_norm_(self._model.parameters(), options.max_grad_norm))
        if self._finite and math.isfinite(norm) and norm <= options.grad_norm_limit:
            self._scaler.step(self.optimizer)
            self._skipped_in_a_row = 0
        else:
            self.skipped += 1
            self._skipped_in_a_row += 1
        self._scaler.update()
        self._finite = True
        self.optimizer.zero_grad(set_to_none=True)
        if self._skipped_in_a_row > options.max_skipped_updates:
            raise LearnerError(
                f"{self._skipped_in_a_row} gradients in a row were unusable: the last had the norm "
                f"{norm:g}, and the limit is {options.grad_norm_limit:g}"
            )
        return norm if math.isfinite(norm) else 0.0

    def minimize(self, loss: Tensor) -> float:
        """Takes an optimizer step on one loss and returns the norm of the gradient."""
        self.accumulate(loss)
        return self.apply()

    def state_dict(self) -> dict[str, Any]:
        """Counters and scale, for an exact resume."""
        return {
            "skipped": self.skipped,
            "skipped_in_a_row": self._skipped_in_a_row,
            "scaler": self._scaler.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores a saved state; the precision may have changed since."""
        self.skipped = state["skipped"]
        self._skipped_in_a_row = state["skipped_in_a_row"]
        if state["scaler"]:
            self._scaler.load_state_dict(state["scaler"])
