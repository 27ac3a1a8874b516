"""Native code that converts images for the network that learns from them."""

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
    """Lets native code convert images where the network's encoder can use it, on a CPU.

    The numbers are the same, so a run does not depend on it.
    """
    encoder = model.encoder
    if device.type != "cpu" or not isinstance(encoder, SpaceToDepthEncoder):
        return
    assert isinstance(space, spaces.Box)
    planes, height, width = space.shape
    encoder.convert_with(_native.ImageBlocks(planes, height, width, torch.get_num_threads()))
