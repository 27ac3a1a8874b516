"""Encoder of tile observations: two linear layers over the grid and its features.

The first layer reads dense vectors, or lists of the nonzero inputs (`sparse.py`), which is several
times faster and gives the same results up to rounding.

There are two versions. Version 2 adds inputs after those of version 1: Mario's place in the level,
the level, a map of where objects will be, and a map of the tiles relative to Mario's exact
position. So a network of version 1 becomes one of version 2 by appending zeros to the weights of
its first layer (`widened_inputs`).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from warpzone.models.encoder import Encoder, orthogonal, working_precision
from warpzone.models.feature_bins import FeatureBins, levels_of
from warpzone.models.object_map import NEXT, NOW, ObjectMap
from warpzone.models.sparse import ACTIVE, LIST_DTYPE, ListReader, SparseKernel, trimmed
from warpzone.models.terrain_map import TerrainMap
from warpzone.models.tree import Tree

# The network sees all planes of the newest grid except Mario's, since the features hold his
# position. Of older grids it sees only enemies and lifts, since everything else stands still.
_PLANES = 5
_SEEN, _SEEN_BEFORE = (0, 1, 2, 3), (1, 2)
# Features that only version 2 reads follow those of version 1. These are categories.
_CATEGORIES = ("place", "far_place", "level")
_SOLID = 0


class TileEncoder(Encoder):
    """Two linear layers over the grid and its features as numbers, bins and an object map."""

    planes: Tensor
    categories: Tensor

    def __init__(
        self,
        shape: tuple[int, int, int],
        features: Sequence[str],
        hidden: int,
        size: int,
        *,
        version: int = 1,
    ):
        """Creates the encoder.

        Args:
            shape: Shape of the stacked grids, [C, H, W], oldest first.
            features: Names of the features.
            hidden: Width of the first layer.
            size: Width of the second layer, the output.
            version: Which inputs the network has, 1 or 2.
        """
        super().__init__()
        self.size = size
        older, cells = shape[0] // _PLANES - 1, shape[1] * shape[2]
        planes = [_PLANES * age + plane for age in range(older) for plane in _SEEN_BEFORE]
        planes += [_PLANES * older + plane for plane in _SEEN]
        self.register_buffer("planes", torch.tensor(planes), persistent=False)
        described = list(features)
        if _CATEGORIES[0] in features:
            described = described[: described.index(_CATEGORIES[0])]
        self._described = len(described)
        self.bins = FeatureBins([levels_of(name) for name in described])
        categories = [name for name in _CATEGORIES if name in features and version > 1]
        chosen = torch.tensor([features.index(name) for name in categories], dtype=torch.int64)
        self.register_buffer("categories", chosen, persistent=False)
        self.category_bins = FeatureBins([levels_of(name) for name in categories])
        # Inputs in their order: grids, single features, objects; in version 2 also categories,
        # objects ahead, terrain.
        first_single = len(planes) * cells
        first_map = first_single + len(described) + self.bins.size
        now, ahead = ObjectMap(described, NOW), ObjectMap(features if version > 1 else (), NEXT)
        first_category = first_map + now.size
        first_map_ahead = first_category + self.category_bins.size
        self.map_now, self.map_ahead = now, ahead
        self._first_map_inputs = (first_map, first_map_ahead)
        self.single_inputs = [
            *range(first_single, first_map),
            *range(first_category, first_map_ahead),
        ]
        inputs = first_map_ahead + ahead.size
        self.first_terrain_input = inputs
        self.terrain: TerrainMap | None = None
        if version > 1:
            self.terrain = TerrainMap(shape, _PLANES * older + _SOLID, features)
            inputs += self.terrain.size
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
        numbers, bins, categories = self.single_features(features)
        now, ahead = self.map_now(features), self.map_ahead(features)
        parts = [grid, numbers, bins, now, categories, ahead]
        if self.terrain is not None:
            parts.append(self.terrain(tiles, features))
        return torch.cat([part.to(precision) for part in parts], 1)

    def maps(self) -> list[tuple[int, ObjectMap]]:
        """Returns the object maps that have cells, each after the index of its first input."""
        both = zip(self._first_map_inputs, (self.map_now, self.map_ahead), strict=True)
        return [(first, objects) for first, objects in both if objects.size]

    def single_features(self, features: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Converts each feature separately: to a number, to bins, and categories to bins.

        The results belong to `single_inputs`, in this order.
        """
        described = features[:, : self._described]
        numbers = (described.to(working_precision(features)) - 128.0) / 64.0
        categories = features.index_select(1, self.categories)
        return numbers, self.bins(described), self.category_bins(categories)

    def forward(self, obs: Tree | Tensor) -> Tensor:
        """Encodes grids with features, prepared or not."""
        prepared = obs if isinstance(obs, Tensor) else self.prepare(obs)
        return functional.relu(self.second(self._first_layer(prepared)))

    def _first_layer(self, prepared: Tensor) -> Tensor:
        if prepared.dtype != LIST_DTYPE:
            return functional.relu(self.first(prepared))
        assert self._lists is not None
        return self._lists.linear_relu(self.first, prepared)


def widened_inputs(weight: Tensor, inputs: int) -> Tensor:
    """Returns the weights of a first layer, [hidden, fewer inputs], for a later version's inputs.

    Args:
        weight: Weights of the earlier version.
        inputs: Number of inputs of the later version.
    """
    return functional.pad(weight, (0, inputs - weight.shape[1]))
