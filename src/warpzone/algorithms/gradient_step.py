"""Optimizer steps with gradient scaling, clipping and skipping of unusable gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from warpzone.algorithms.ranks import Ranks
from warpzone.config import LearnOptions


class LearnerError(RuntimeError):
    """Too many consecutive gradients were unusable."""


class GradientStep:
    """Accumulates gradients and applies them, unless they are unusable."""

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        options: LearnOptions,
        scaler: torch.amp.GradScaler | None = None,
        *,
        clip: Callable[[float], float] | None = None,
        ranks: Ranks | None = None,
    ):
        """Creates the step.

        Args:
            model: Network that learns.
            optimizer: Optimizer of its parameters.
            options: Limits of the gradient norm and of skipped steps.
            scaler: Gradient scaler for float16; other precisions do not need one.
            clip: Clips the gradients to a norm and returns the norm that they had; for optimizers
                that do so themselves.
            ranks: Ranks whose gradients are averaged; by default there is only one.
        """
        self.optimizer, self.skipped = optimizer, 0
        self._model, self._options = model, options
        self._ranks = ranks or Ranks()
        self._clip = clip or self._clip_all
        self._scaler = scaler or torch.amp.GradScaler(enabled=False)
        self._skipped_in_a_row = 0
        self._finite = True  # Whether all accumulated losses are finite.

    def set_options(self, options: LearnOptions) -> None:
        """Sets limits that were changed between two updates."""
        self._options = options

    def accumulate(self, loss: Tensor, share: float = 1.0) -> float:
        """Accumulates the gradient of `share * loss`, and returns the loss."""
        torch.autograd.backward(self._scaler.scale(loss * share))
        value = loss.item()
        self._finite = self._finite and math.isfinite(value)
        return value

    def apply(self, max_grad_norm: float | None = None) -> float:
        """Takes an optimizer step and returns the norm of the gradient.

        A NaN, infinite or too large gradient is skipped and counted.

        Args:
            max_grad_norm: Norm to clip to, instead of the option's.

        Raises:
            LearnerError: Too many consecutive steps were skipped.
        """
        options = self._options
        self._finite = self._ranks.average_gradients(self._model.parameters(), self._finite)
        self._scaler.unscale_(self.optimizer)
        norm = self._clip(max_grad_norm or options.max_grad_norm)
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
                f"{self._skipped_in_a_row} consecutive gradients were unusable: the last had norm "
                f"{norm:g}, and the limit is {options.grad_norm_limit:g}"
            )
        return norm if math.isfinite(norm) else 0.0

    def _clip_all(self, max_norm: float) -> float:
        return float(nn.utils.clip_grad_norm_(self._model.parameters(), max_norm))

    def minimize(self, loss: Tensor, max_grad_norm: float | None = None) -> float:
        """Takes an optimizer step on one loss and returns the norm of the gradient."""
        self.accumulate(loss)
        return self.apply(max_grad_norm)

    def state_dict(self) -> dict[str, Any]:
        """Returns counters and scale, for an exact resume."""
        return {
            "skipped": self.skipped,
            "skipped_in_a_row": self._skipped_in_a_row,
            "scaler": self._scaler.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores a saved state; the precision may have changed since then."""
        self.skipped = state["skipped"]
        self._skipped_in_a_row = state["skipped_in_a_row"]
        if state["scaler"]:
            self._scaler.load_state_dict(state["scaler"])
