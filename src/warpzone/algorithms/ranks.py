"""Ranks: processes that learn together, each from its own rollouts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

Item = TypeVar("Item")


class Moments(NamedTuple):
    """Mean and standard deviation of the advantages in the minibatches of all ranks."""

    mean: Tensor
    std: Tensor


class Ranks:
    """A single rank; `training/process_ranks.py` connects several.

    Every rank calls these methods in the same order. Averages weigh all ranks equally.

    Attributes:
        rank: Number of this process, from 0.
        size: Number of ranks.
    """

    rank = 0
    size = 1

    def average_gradients(self, parameters: Iterable[Tensor], finite: bool) -> bool:
        """Replaces gradients by their mean over the ranks.

        Args:
            parameters: Parameters whose gradients are averaged.
            finite: Whether this rank's loss is finite.

        Returns:
            Whether the losses of all ranks are finite.
        """
        return finite

    def mean(self, value: float) -> float:
        """Returns the mean of a value over the ranks."""
        return value

    def moments(self, advantages: Tensor, mask: Tensor | None) -> Moments | None:
        """Returns the moments over the minibatches of all ranks; None if there is one rank."""
        return None

    def gather(self, item: Item) -> list[Item]:
        """Returns the items of all ranks, in order of the ranks."""
        return [item]


def moments_of(count: Tensor, total: Tensor, squares: Tensor) -> Moments:
    """Returns moments from a count, a sum and a sum of squares, in double precision."""
    mean = total / count
    variance = (squares - count * mean.square()) / (count - 1).clamp(min=1)
    return Moments(mean.float(), variance.clamp(min=0).sqrt().float())


def sums_of(advantages: Tensor, mask: Tensor | None) -> Tensor:
    """Returns count, sum and sum of squares of the advantages that the mask selects."""
    chosen = (advantages if mask is None else advantages[mask]).double()
    count = torch.tensor(float(chosen.numel()), dtype=torch.float64, device=chosen.device)
    return torch.stack([count, chosen.sum(), chosen.square().sum()])
