"""Native code for networks that see images."""

from __future__ import annotations

from typing import Any

import torch
from gymnasium import spaces

from warpzone import _native
from warpzone.config import RunOptions
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.image_encoders import SpaceToDepthEncoder
from warpzone.models.native_convolutions import NATIVE_CHANNELS

_LARGEST_SIDE = 248  # Of images that native convolutions support.


def convolves_natively(
    model: ActorCritic, space: spaces.Space[Any], device: torch.device, options: RunOptions
) -> bool:
    """Whether native code computes the convolutions of a network.

    It rounds some numbers to 16 bits, so it is used only if the precision is left to Warpzone.
    """
    encoder = model.encoder
    return (
        isinstance(encoder, SpaceToDepthEncoder)
        and encoder.channels == (NATIVE_CHANNELS, NATIVE_CHANNELS)
        and max(_shape(space)[1:]) <= _LARGEST_SIDE
        and device.type == "cpu"
        and options.precision == "auto"
        and not options.compile  # The compiler cannot look into native code.
    )


def convolve_natively(model: ActorCritic, space: spaces.Space[Any]) -> None:
    """Computes the convolutions of a network with native code; see `convolves_natively`."""
    assert isinstance(model.encoder, SpaceToDepthEncoder)
    kernel = _native.ImageConvolutions(*_shape(space), torch.get_num_threads())
    model.encoder.convolve_with(kernel)


def convert_images_natively(
    model: ActorCritic, space: spaces.Space[Any], device: torch.device
) -> None:
    """Enables native conversion of images on a CPU if the encoder supports it.

    Results are identical, so this does not affect what a run learns.
    """
    encoder = model.encoder
    if device.type != "cpu" or not isinstance(encoder, SpaceToDepthEncoder):
        return
    encoder.convert_with(_native.ImageBlocks(*_shape(space), torch.get_num_threads()))


def _shape(space: spaces.Space[Any]) -> tuple[int, int, int]:
    assert isinstance(space, spaces.Box)
    planes, height, width = space.shape
    return planes, height, width
