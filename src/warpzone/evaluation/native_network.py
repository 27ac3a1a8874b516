"""Native copies of tile networks: they act, and training collects whole rollouts with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor, nn

from warpzone import _native
from warpzone.models.active_inputs import active_tables
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.memory import Memory
from warpzone.models.noisy import NoisyLinear
from warpzone.models.tile_encoder import TileEncoder
from warpzone.models.tree import space_tree
from warpzone.named_box import NamedBox

_GRID_PLANES = 5  # Planes per grid; a stack has a multiple.


def layout_for(encoder: TileEncoder, space: spaces.Space[Any]) -> _native.ActiveLayout:
    """Creates the layout that maps observations of a space to lists of active inputs."""
    parts = space_tree(space)
    features = parts["features"]
    assert isinstance(features, NamedBox)
    planes, height, width = parts["tiles"].shape
    return make_layout(encoder, (planes, height, width), features.names)


def make_layout(
    encoder: TileEncoder, shape: tuple[int, int, int], feature_names: Sequence[str]
) -> _native.ActiveLayout:
    """Creates the layout that maps observations to lists of active inputs.

    Args:
        encoder: Dense encoder.
        shape: Shape of the stacked grids, [C, H, W].
        feature_names: Names of the features, in order.
    """
    tables = active_tables(encoder, shape, feature_names)
    terrain = None
    if tables.terrain is not None:
        terrain = _native.TerrainTables(
            first_input=tables.first_terrain_input, **vars(tables.terrain)
        )
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
        maps=[
            _native.ObjectMapTables(first_input=first, **vars(table))
            for first, table in zip(tables.first_map_inputs, tables.maps, strict=True)
        ],
        terrain=terrain,
    )


def make_native_network(layout: _native.ActiveLayout, model: ActorCritic) -> _native.PolicyNetwork:
    """Creates the native copy of a model, without its weights.

    Args:
        layout: Layout of the encoder's inputs.
        model: Model with a tile encoder and without a recurrent core.
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
    """Copies the model's current weights to the native copy; noisy heads with current noise."""
    encoder = model.encoder
    assert isinstance(encoder, TileEncoder)
    layers = (encoder.first, encoder.second, model.policy, model.value)
    network.set_weights(*(part for layer in layers for part in _weights(layer)))


def _weights(layer: nn.Linear) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    parts = layer.present() if isinstance(layer, NoisyLinear) else (layer.weight, layer.bias)
    return parts[0].detach().numpy(), parts[1].detach().numpy()


class NativeNetwork:
    """A native copy of a trained network, several times faster than PyTorch on small batches."""

    def __init__(self, model: ActorCritic, space: spaces.Space[Any]):
        """Copies a network; see `has_native_copy`.

        Args:
            model: The network, on the CPU.
            space: Space of one observation.
        """
        assert isinstance(model.encoder, TileEncoder)
        self._layout = layout_for(model.encoder, space)
        self._network = make_native_network(self._layout, model)
        self._actions = model.policy.out_features
        copy_weights(model, self._network)

    def decide(
        self, tiles: NDArray[np.uint8], features: NDArray[np.uint8]
    ) -> tuple[Tensor, NDArray[np.float32]]:
        """Returns logits, [B, actions], and values, [B]: those of PyTorch up to rounding.

        Args:
            tiles: Stacked grids, [B, C, H, W].
            features: Features, [B, F].
        """
        count = len(features)
        rows = np.zeros((count, self._layout.capacity), np.uint16)
        self._layout.write(np.ascontiguousarray(tiles), np.ascontiguousarray(features), rows)
        logits = np.empty((count, self._actions), np.float32)
        values = np.empty(count, np.float32)
        self._network.decide(rows, logits, values)
        return torch.from_numpy(logits), values


def has_native_copy(model: ActorCritic) -> bool:
    """Whether a network is of the kind that native code knows: tiles, no memory, plain heads."""
    return (
        type(model.encoder) is TileEncoder
        and type(model.memory) is Memory
        and type(model.policy) is nn.Linear
    )
