"""Normalization of advantages for networks that play several levels.

Levels differ in how large their advantages are: where every episode clears, they are small, and in
a common minibatch they would be lost beside those of a level that is still being learned.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

# Steps on a level over which the magnitude of its advantages is averaged.
_HORIZON = 20_000.0
# Smallest magnitude of a level relative to that of all levels, so that noise is not amplified.
_FLOOR = 0.25


class LevelAdvantages:
    """Divides advantages by their running root mean square on each level."""

    def __init__(self, levels: int):
        """Starts without any knowledge.

        Args:
            levels: Number of levels.
        """
        self._squares = torch.zeros(levels, dtype=torch.float64)
        self._counts = torch.zeros(levels, dtype=torch.float64)

    def normalized(self, advantages: Tensor, levels: Tensor, mask: Tensor) -> Tensor:
        """Returns the advantages at a magnitude of about 1 on every level.

        Args:
            advantages: Advantages of a rollout, [T, N].
            levels: Number of the level of each step, [T, N].
            mask: Steps that are learned from, [T, N].
        """
        self._count(advantages[mask], levels[mask])
        overall = self._squares.sum() / self._counts.sum().clamp(min=1.0)
        squares = self._squares / self._counts.clamp(min=1.0)
        scale = squares.clamp(min=float(overall) * _FLOOR**2).sqrt() + 1e-8
        return advantages / scale.to(advantages.dtype)[levels]

    def _count(self, advantages: Tensor, levels: Tensor) -> None:
        counts = torch.bincount(levels, minlength=len(self._counts)).double()
        squares = torch.zeros_like(counts).index_add_(0, levels, advantages.double().square())
        keep = torch.exp(-counts / _HORIZON)
        self._counts.mul_(keep).add_(counts)
        self._squares.mul_(keep).add_(squares)

    def state_dict(self) -> dict[str, Any]:
        """Returns the running sums."""
        return {"squares": self._squares.clone(), "counts": self._counts.clone()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self._squares.copy_(state["squares"])
        self._counts.copy_(state["counts"])
