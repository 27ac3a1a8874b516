"""Noisy linear layers: exploration by weights that are drawn anew (Fortunato and others, 2018)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

_FIRST_SPREAD = 0.5


class NoisyLinear(nn.Linear):
    """A linear layer whose weights are mean plus learned spread times factorised noise.

    `weight` and `bias` are the means; outside of training (`eval()`) they alone are used. The noise
    is no part of the layer's saved state: whoever acts or learns draws it first, from a generator
    whose own state is saved.
    """

    input_noise: Tensor
    output_noise: Tensor

    def __init__(self, inputs: int, outputs: int):
        """Begins with the spread of the paper and no noise."""
        super().__init__(inputs, outputs)
        spread = _FIRST_SPREAD / math.sqrt(inputs)
        self.weight_spread = nn.Parameter(torch.full((outputs, inputs), spread))
        self.bias_spread = nn.Parameter(torch.full((outputs,), spread))
        self.register_buffer("input_noise", torch.zeros(inputs), persistent=False)
        self.register_buffer("output_noise", torch.zeros(outputs), persistent=False)

    def draw(self, generator: torch.Generator) -> None:
        """Draws new noise; the same generator gives the same noise on every device."""
        self.input_noise.copy_(_signed_root(self.in_features, generator))
        self.output_noise.copy_(_signed_root(self.out_features, generator))

    def forward(self, x: Tensor) -> Tensor:
        """As `nn.Linear`, with the weights of the present noise."""
        return functional.linear(x, *self.present())

    def present(self) -> tuple[Tensor, Tensor]:
        """Weight and bias with the present noise."""
        if not self.training:
            return self.weight, self.bias
        noise = torch.outer(self.output_noise, self.input_noise)
        weight = self.weight + self.weight_spread * noise
        return weight, self.bias + self.bias_spread * self.output_noise


def _signed_root(count: int, generator: torch.Generator) -> Tensor:
    """The root of a normal number's size, with its sign: products of two then have spread 1."""
    normal = torch.randn(count, generator=generator)
    return normal.sign() * normal.abs().sqrt()
