"""Creates networks from options, and registers the built-in encoders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from gymnasium import spaces
from torch import Tensor, nn

from warpzone.config import ModelOptions
from warpzone.errors import ConfigError, PluginError
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.encoder import Encoder
from warpzone.models.image_encoders import ImpalaEncoder, NatureEncoder, SpaceToDepthEncoder
from warpzone.models.memory import make_memory
from warpzone.models.tile_encoder import TileEncoder
from warpzone.models.tree import IMAGE, as_observation, space_tree, torch_dtype
from warpzone.named_box import NamedBox
from warpzone.registry import encoders, register_encoder

AUTO = "auto"


def make_model(
    options: ModelOptions, obs_space: spaces.Space[Any], actions: int, plugins: Sequence[str] = ()
) -> ActorCritic:
    """Creates the network for an observation space.

    Args:
        options: Options of the encoder, recurrent core and heads.
        obs_space: Space of one observation.
        actions: Number of actions.
        plugins: Modules that may register the encoder; named in the error if it is missing.

    Raises:
        PluginError: The encoder is not registered, or does not return vectors.
    """
    name = _default_encoder(obs_space) if options.encoder == AUTO else options.encoder
    encoder = encoders.get(name, plugins)(obs_space, options.hidden)
    width = encoder.size if isinstance(encoder, Encoder) else _measured_width(encoder, obs_space)
    memory = make_memory(options.memory, width, options.memory_size, options.memory_window)
    return ActorCritic(
        encoder,
        memory,
        actions,
        obs_name=None if isinstance(obs_space, spaces.Dict) else IMAGE,
        noisy_heads=options.heads == "noisy",
    )


def _default_encoder(space: spaces.Space[Any]) -> str:
    if isinstance(space, spaces.Dict):
        if not isinstance(space.spaces.get("features"), NamedBox):
            raise ConfigError(
                f"no built-in encoder fits the observation space {space}; register your own with "
                "warpzone.register_encoder"
            )
        return "tiles"
    return "space-to-depth"


def _measured_width(encoder: nn.Module, space: spaces.Space[Any]) -> int:
    """Returns the width of the vectors that a user's encoder produces."""
    zeros = {
        name: torch.zeros(2, *box.shape, dtype=torch_dtype(box))
        for name, box in space_tree(space).items()
    }
    training = encoder.training
    with torch.no_grad():
        output = encoder.eval()(as_observation(zeros, space))
    encoder.train(training)
    if not isinstance(output, Tensor) or output.ndim != 2:
        shape = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
        raise PluginError(
            f"{type(encoder).__name__} returns {shape} for two observations; an encoder must "
            "return one vector per observation, [2, width]"
        )
    return output.shape[1]


@register_encoder("space-to-depth")
def _space_to_depth(space: spaces.Space[Any], size: int) -> nn.Module:
    return SpaceToDepthEncoder(_image_shape(space), (32, 32), size)


@register_encoder("nature")
def _nature(space: spaces.Space[Any], size: int) -> nn.Module:
    return NatureEncoder(_image_shape(space), (16, 32, 32), size)


@register_encoder("impala")
def _impala(space: spaces.Space[Any], size: int) -> nn.Module:
    return ImpalaEncoder(_image_shape(space), (16, 32, 32), size)


@register_encoder("tiles")
def _tiles(space: spaces.Space[Any], size: int) -> nn.Module:
    return _tile_encoder(space, size, "tiles", version=1)


@register_encoder("tiles-v2")
def _tiles_v2(space: spaces.Space[Any], size: int) -> nn.Module:
    return _tile_encoder(space, size, "tiles-v2", version=2)


def _tile_encoder(space: spaces.Space[Any], size: int, name: str, version: int) -> TileEncoder:
    features = space.spaces.get("features") if isinstance(space, spaces.Dict) else None
    if not isinstance(space, spaces.Dict) or not isinstance(features, NamedBox):
        raise ConfigError(f"model.encoder is {name!r}, which needs env.obs 'tiles'")
    return TileEncoder(
        _image_shape(space["tiles"]), features.names, size, size // 2, version=version
    )


def _image_shape(space: spaces.Space[Any]) -> tuple[int, int, int]:
    if not isinstance(space, spaces.Box) or len(space.shape) != 3:
        raise ConfigError(f"an image encoder does not fit the observation space {space}")
    channels, height, width = space.shape
    return channels, height, width


def place_model(model: ActorCritic, device: torch.device) -> ActorCritic:
    """Moves a network to a device, in the memory layout that is fastest there.

    Measured effect of channels-last (one core, bfloat16): the residual network takes 0.55 times as
    long to learn and 0.35 times as long to infer; the small Nature network takes 1.15 times as
    long, so it keeps its layout; the space-to-depth network chooses its own. On CUDA, channels-last
    suits tensor cores.
    """
    if device.type == "cuda" or isinstance(model.encoder, ImpalaEncoder):
        model = model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return model.to(device)
