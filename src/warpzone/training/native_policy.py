"""Native copy of the tile network, which acts and learns on lists of active inputs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from gymnasium import spaces

from warpzone import _native
from warpzone.envs.vector import MarioVectorEnv
from warpzone.evaluation.native_network import copy_weights, layout_for, make_native_network
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.sparse import ACTIVE, store_by_input
from warpzone.models.tile_encoder import TileEncoder


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
        encoder = model.encoder
        assert isinstance(encoder, TileEncoder)
        self.layout = layout_for(encoder, env.single_observation_space)
        self._network = make_native_network(self.layout, model)
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
