"""Noisy linear layers: exploration with random weight noise (Fortunato et al., 2018)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

_INITIAL_SIGMA = 0.5


class NoisyLinear(nn.Linear):
    """Linear layer whose weights are a mean plus a learned sigma times factorized noise.

    `weight` and `bias` are the means; in evaluation mode (`eval()`), only they are used. The noise
    is not part of the state dict: it is sampled before acting or learning, from a generator whose
    state is saved.
    """

    input_noise: Tensor
    output_noise: Tensor

    def __init__(self, inputs: int, outputs: int):
        """Creates the layer with the paper's initial sigma and no noise."""
        super().__init__(inputs, outputs)
        spread = _INITIAL_SIGMA / math.sqrt(inputs)
        self.weight_spread = nn.Parameter(torch.full((outputs, inputs), spread))
        self.bias_spread = nn.Parameter(torch.full((outputs,), spread))
        self.register_buffer("input_noise", torch.zeros(inputs), persistent=False)
        self.register_buffer("output_noise", torch.zeros(outputs), persistent=False)

    def draw(self, generator: torch.Generator) -> None:
        """Samples new noise; the same generator gives the same noise on every device."""
        self.input_noise.copy_(_signed_root(self.in_features, generator))
        self.output_noise.copy_(_signed_root(self.out_features, generator))

    def forward(self, x: Tensor) -> Tensor:
        """Applies the layer with the current noise."""
        return functional.linear(x, *self.present())

    def present(self) -> tuple[Tensor, Tensor]:
        """Returns weight and bias with the current noise."""
        if not self.training:
            return self.weight, self.bias
        noise = torch.outer(self.output_noise, self.input_noise)
        weight = self.weight + self.weight_spread * noise
        return weight, self.bias + self.bias_spread * self.output_noise


def _signed_root(count: int, generator: torch.Generator) -> Tensor:
    """Samples sign(x) * sqrt(abs(x)) of normal x, whose products have standard deviation 1."""
    normal = torch.randn(count, generator=generator)
    return normal.sign() * normal.abs().sqrt()
