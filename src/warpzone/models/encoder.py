"""What the actor-critic expects of an encoder, and helpers that encoders share."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

Layer = TypeVar("Layer", nn.Linear, nn.Conv2d)


class Encoder(nn.Module):
    """Turns uint8 observations into vectors, [B, size].

    `forward` takes a batch of observations: a tensor where the observation space is a `Box`, a dict
    of tensors where it is a `Dict`. Any `torch.nn.Module` that does this can encode; this class
    adds `prepare`, which lets the learner convert a rollout once instead of once per epoch.
    """

    size: int
    """Width of the output."""

    def prepare(self, obs: Any) -> Tensor:
        """Converts observations to the numbers that the first layer takes.

        `forward` must accept the result in place of the observations.
        """
        raise NotImplementedError


def orthogonal(layer: Layer, gain: float = math.sqrt(2)) -> Layer:
    """Initialises a layer with orthogonal weights and zero bias, and returns it."""
    nn.init.orthogonal_(layer.weight, gain)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


def working_precision(tensor: Tensor) -> torch.dtype:
    """The dtype that layers compute with on a tensor's device: that of autocast, if enabled."""
    kind = tensor.device.type
    if torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind):
        return torch.get_autocast_dtype(kind)
    return torch.float32
