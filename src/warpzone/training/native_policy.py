"""From the tile network to its native twin, which acts and learns over lists of active inputs."""

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


class NativePolicy:
    """The native twin of a network, and the player that fills rollouts with it.

    Attributes:
        layout: How observations become lists of active inputs.
        player: Plays the environments.
    """

    def __init__(self, model: ActorCritic, env: MarioVectorEnv, threads: int):
        """Makes the twin, and lets the model learn from lists.

        Args:
            model: With a tile encoder and without memory, on the CPU; before its optimizer is made.
            env: The environments that are played.
            threads: That learn.
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
        encoder.read_lists_with(_native.SparseLinear(self.layout, threads))

    def copy_weights(self, model: ActorCritic) -> None:
        """Hands over the present weights of a model."""
        copy_weights(model, self._network)

    def obs_spaces(self, dense: Mapping[str, spaces.Box]) -> dict[str, spaces.Box]:
        """What is stored of an observation: its list, and some of its own parts."""
        ends = np.iinfo(np.int16)
        lists = spaces.Box(int(ends.min), int(ends.max), (self.layout.capacity,), np.int16)
        return {ACTIVE: lists, **dense}
