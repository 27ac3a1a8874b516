"""From the tile network to its native twin, which acts and learns over lists of active inputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from warpzone import _native
from warpzone.models.active_inputs import active_tables
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.noisy import NoisyLinear
from warpzone.models.tile_encoder import TileEncoder

_GRID_PLANES = 5  # Of one grid; a stack has a multiple of them.


def make_layout(
    encoder: TileEncoder, shape: tuple[int, int, int], feature_names: Sequence[str]
) -> _native.ActiveLayout:
    """Describes how observations become lists of active inputs.

    Args:
        encoder: The dense encoder.
        shape: Of the stacked grids, [C, H, W].
        feature_names: Of the features, in their order.
    """
    tables = active_tables(encoder, shape, feature_names)
    return _native.ActiveLayout(
        base=tables.base,
        grid_planes=tables.grid_planes,
        cells=tables.cells,
        planes=tables.planes,
        cell_values=tables.cell_values,
        most_cells=_native.most_tile_cells(shape[0] // _GRID_PLANES),
        feature_offsets=tables.feature_offsets,
        feature_inputs=tables.feature_inputs,
        feature_values=tables.feature_values,
        objects=_native.ObjectMapTables(
            first_input=tables.first_object_input,
            **vars(tables.objects),
        ),
    )


def make_network(layout: _native.ActiveLayout, model: ActorCritic) -> _native.PolicyNetwork:
    """Makes the native twin of a model, without its weights.

    Args:
        layout: How its encoder sees observations.
        model: With a tile encoder and without memory.
    """
    assert isinstance(model.encoder, TileEncoder)
    return _native.PolicyNetwork(
        layout,
        hidden=model.encoder.first.out_features,
        size=model.encoder.second.out_features,
        actions=model.policy.out_features,
    )


@torch.no_grad()
def copy_weights(model: ActorCritic, network: _native.PolicyNetwork) -> None:
    """Gives the native twin the model's present weights; noisy heads with their present noise."""
    encoder = model.encoder
    assert isinstance(encoder, TileEncoder)
    layers = (encoder.first, encoder.second, model.policy, model.value)
    network.set_weights(*(part for layer in layers for part in _weights(layer)))


def _weights(layer: nn.Linear) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    parts = layer.present() if isinstance(layer, NoisyLinear) else (layer.weight, layer.bias)
    return parts[0].detach().numpy(), parts[1].detach().numpy()
