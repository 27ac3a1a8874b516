"""Base class of encoders, and helpers that encoders share."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

Layer = TypeVar("Layer", nn.Linear, nn.Conv2d)


class Encoder(nn.Module):
    """Maps uint8 observations to vectors, [B, size].

    `forward` takes a batch of observations: a tensor if the observation space is a `Box`, a dict of
    tensors if it is a `Dict`. Any `torch.nn.Module` with this interface can be used; this class
    adds `prepare`, which lets the learner convert a rollout once instead of once per epoch.
    """

    size: int
    """Width of the output."""

    @property
    def converts_quickly(self) -> bool:
        """Whether `forward` converts observations so fast that `prepare` does not pay off."""
        return False

    def prepare(self, obs: Any) -> Tensor:
        """Converts observations to the input of the first layer.

        `forward` must accept the result in place of the observations.
        """
        raise NotImplementedError


def orthogonal(layer: Layer, gain: float = math.sqrt(2)) -> Layer:
    """Initializes a layer with orthogonal weights and zero bias, and returns it."""
    nn.init.orthogonal_(layer.weight, gain)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


def working_precision(tensor: Tensor) -> torch.dtype:
    """Returns the dtype in which layers compute on a tensor's device, considering autocast."""
    kind = tensor.device.type
    if torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind):
        return torch.get_autocast_dtype(kind)
    return torch.float32
