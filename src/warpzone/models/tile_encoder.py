"""Encoder of tile observations: two linear layers over the grid and its features.

The first layer reads dense vectors, or lists of the nonzero inputs (`sparse.py`), which is several
times faster and gives the same results up to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from warpzone.models.encoder import Encoder, orthogonal, working_precision
from warpzone.models.feature_bins import FeatureBins, levels_of
from warpzone.models.object_map import ObjectMap
from warpzone.models.sparse import ACTIVE, LIST_DTYPE, ListReader, SparseKernel, trimmed
from warpzone.models.tree import Tree

# The network sees all planes of the newest grid except Mario's, since the features hold his
# position. Of older grids it sees only enemies and lifts, since everything else stands still.
_PLANES = 5
_SEEN, _SEEN_BEFORE = (0, 1, 2, 3), (1, 2)


class TileEncoder(Encoder):
    """Two linear layers over the grid and its features as numbers, bins and an object map."""

    planes: Tensor

    def __init__(
        self, shape: tuple[int, int, int], features: Sequence[str], hidden: int, size: int
    ):
        """Creates the encoder.

        Args:
            shape: Shape of the stacked grids, [C, H, W], oldest first.
            features: Names of the features.
            hidden: Width of the first layer.
            size: Width of the second layer, the output.
        """
        super().__init__()
        self.size = size
        older, cells = shape[0] // _PLANES - 1, shape[1] * shape[2]
        planes = [_PLANES * age + plane for age in range(older) for plane in _SEEN_BEFORE]
        planes += [_PLANES * older + plane for plane in _SEEN]
        self.register_buffer("planes", torch.tensor(planes), persistent=False)
        self.bins = FeatureBins([levels_of(name) for name in features])
        self.objects = ObjectMap(features)
        inputs = len(planes) * cells + len(features) + self.bins.size + self.objects.size
        self.first = orthogonal(nn.Linear(inputs, hidden))
        self.second = orthogonal(nn.Linear(hidden, size))
        self._lists: ListReader | None = None

    def read_lists_with(self, kernel: SparseKernel) -> None:
        """Enables `forward` to accept lists of active inputs, `{"active": ...}`, on the CPU.

        Args:
            kernel: Kernel that computes on lists of this encoder's inputs.
        """
        self._lists = ListReader(kernel)

    def prepare(self, obs: Tree) -> Tensor:
        """Converts grid and features to one input vector; lists are only trimmed."""
        if ACTIVE in obs:
            return trimmed(obs[ACTIVE])
        tiles, features = obs["tiles"], obs["features"]
        precision = working_precision(tiles)
        grid = tiles.index_select(1, self.planes).flatten(1).to(precision) / 255.0
        parts = [grid, *self.single_features(features), self.objects(features)]
        return torch.cat([part.to(precision) for part in parts], 1)

    def single_features(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Converts each feature separately: to a number, and to bins."""
        return (features.to(working_precision(features)) - 128.0) / 64.0, self.bins(features)

    def forward(self, obs: Tree | Tensor) -> Tensor:
        """Encodes grids with features, prepared or not."""
        prepared = obs if isinstance(obs, Tensor) else self.prepare(obs)
        return functional.relu(self.second(self._first_layer(prepared)))

    def _first_layer(self, prepared: Tensor) -> Tensor:
        if prepared.dtype != LIST_DTYPE:
            return functional.relu(self.first(prepared))
        assert self._lists is not None
        return self._lists.linear_relu(self.first, prepared)
