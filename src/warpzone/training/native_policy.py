"""Native copy of the tile network, which acts and learns on lists of active inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import nn

from warpzone import _native
from warpzone.envs.vector import MarioVectorEnv
from warpzone.models.active_inputs import active_tables
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.noisy import NoisyLinear
from warpzone.models.sparse import ACTIVE, store_by_input
from warpzone.models.tile_encoder import TileEncoder
from warpzone.models.tree import space_tree
from warpzone.named_box import NamedBox

_GRID_PLANES = 5  # Planes per grid; a stack has a multiple.


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


def make_network(layout: _native.ActiveLayout, model: ActorCritic) -> _native.PolicyNetwork:
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


class NativePolicy:
    """Native copy of a network, and the player that collects rollouts with it.

    Attributes:
        layout: Layout that maps observations to lists of active inputs.
        player: Plays the environments.
        kernel: Computes first layers over the lists.
    """

    def __init__(self, model: ActorCritic, env: MarioVectorEnv, threads: int):
        """Creates the native copy, and enables the model to learn from lists.

        Args:
            model: Model on the CPU with a tile encoder and without a recurrent core; its optimizer
                must be created afterwards.
            env: Environments to play.
            threads: Number of threads for learning.
        """
        encoder, parts = model.encoder, space_tree(env.single_observation_space)
        features = parts["features"]
        assert isinstance(encoder, TileEncoder)
        assert isinstance(features, NamedBox)
        planes, height, width = parts["tiles"].shape
        self.layout = make_layout(encoder, (planes, height, width), features.names)
        self._network = make_network(self.layout, model)
        self.player = _native.RolloutPlayer(env.pool, self._network)
        store_by_input(encoder.first)
        self.kernel = _native.SparseLinear(self.layout, threads)
        encoder.read_lists_with(self.kernel)

    def copy_weights(self, model: ActorCritic) -> None:
        """Copies the current weights of a model."""
        copy_weights(model, self._network)

    def obs_spaces(self, dense: Mapping[str, spaces.Box]) -> dict[str, spaces.Box]:
        """Returns the spaces of stored observations: the list, and some dense parts."""
        ends = np.iinfo(np.int16)
        lists = spaces.Box(int(ends.min), int(ends.max), (self.layout.capacity,), np.int16)
        return {ACTIVE: lists, **dense}
