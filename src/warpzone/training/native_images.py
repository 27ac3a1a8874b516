"""Native conversion of images for the network."""

from __future__ import annotations

from typing import Any

import torch
from gymnasium import spaces

from warpzone import _native
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.image_encoders import SpaceToDepthEncoder


def convert_images_natively(
    model: ActorCritic, space: spaces.Space[Any], device: torch.device
) -> None:
    """Enables native conversion of images on a CPU if the encoder supports it.

    Results are identical, so this does not affect what a run learns.
    """
    encoder = model.encoder
    if device.type != "cpu" or not isinstance(encoder, SpaceToDepthEncoder):
        return
    assert isinstance(space, spaces.Box)
    planes, height, width = space.shape
    encoder.convert_with(_native.ImageBlocks(planes, height, width, torch.get_num_threads()))
