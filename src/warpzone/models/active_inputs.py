"""Tables that turn tile observations into lists of active network inputs.

Of thousands of inputs, only a few dozen are nonzero at a time, so native code sums their rows of
weights instead of multiplying a dense vector. The tables for listing the active inputs are derived
from the dense encoder, which remains the reference, by evaluating it on single bytes. A feature in
its default state (no object, button not pressed) adds nothing to a list; its inputs are part of a
constant vector, the base.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from warpzone.models.object_map import MapTables
from warpzone.models.terrain_map import TerrainTables
from warpzone.models.tile_encoder import TileEncoder

_BYTES = 256
#: Features whose default byte is the middle: absent objects have distance 0 and speed 0.
_CENTRED = ("x_speed", "y_speed", "_x", "_y", "_speed", "_fall")


@dataclass(frozen=True)
class ActiveTables:
    """Tables that map observations to lists of inputs, for `_native.ActiveLayout`.

    Attributes:
        base: Inputs with no cell set and every feature in its default state, [inputs].
        grid_planes: Number of planes of the stacked grids.
        cells: Number of cells per plane.
        planes: Planes that the network uses; the k-th starts at input k * cells.
        cell_values: Input value for each byte of a cell, [256].
        feature_offsets: Start of the entries of each byte of each feature, [256 * features + 1].
        feature_inputs: Input index of each entry.
        feature_values: Value that each entry adds to its input.
        maps: Geometry of each object map.
        first_map_inputs: Index of the first input of each object map.
        terrain: Geometry of the terrain map; None without one.
        first_terrain_input: Index of the first input of the terrain map.
    """

    base: NDArray[np.float32]
    grid_planes: int
    cells: int
    planes: list[int]
    cell_values: NDArray[np.float32]
    feature_offsets: NDArray[np.int32]
    feature_inputs: NDArray[np.uint16]
    feature_values: NDArray[np.float32]
    maps: list[MapTables]
    first_map_inputs: list[int]
    terrain: TerrainTables | None
    first_terrain_input: int


@torch.no_grad()
def active_tables(
    encoder: TileEncoder, shape: tuple[int, int, int], features: Sequence[str]
) -> ActiveTables:
    """Derives the tables from an encoder.

    Args:
        encoder: Dense encoder.
        shape: Shape of the stacked grids, [C, H, W].
        features: Names of the features.
    """
    defaults = torch.tensor([_default_byte(name) for name in features], dtype=torch.uint8)
    empty = torch.zeros(1, *shape, dtype=torch.uint8)
    base = encoder.prepare({"tiles": empty, "features": defaults.unsqueeze(0)})[0]
    single = torch.cat(encoder.single_features(defaults.unsqueeze(0)), 1)[0]
    inputs = np.array(encoder.single_inputs)
    changes: list[_Changes] = []
    for position in range(len(features)):
        probes = defaults.repeat(_BYTES, 1)
        probes[:, position] = torch.arange(_BYTES, dtype=torch.uint8)
        seen = torch.cat(encoder.single_features(probes), 1)
        changes.append(_changes(single.numpy(), seen.numpy(), inputs))
    counts = np.concatenate([change.counts for change in changes])
    return ActiveTables(
        base=base.numpy(),
        grid_planes=shape[0],
        cells=shape[1] * shape[2],
        planes=encoder.planes.tolist(),
        cell_values=_cell_values(encoder, shape, defaults),
        feature_offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        feature_inputs=np.concatenate([change.inputs for change in changes]),
        feature_values=np.concatenate([change.values for change in changes]),
        maps=[objects.tables() for _, objects in encoder.maps()],
        first_map_inputs=[first for first, _ in encoder.maps()],
        terrain=None if encoder.terrain is None else encoder.terrain.tables(),
        first_terrain_input=encoder.first_terrain_input,
    )


def _default_byte(feature: str) -> int:
    centred = feature.startswith("object") or feature in _CENTRED
    return 128 if centred and feature.endswith(_CENTRED) else 0


def _cell_values(
    encoder: TileEncoder, shape: tuple[int, int, int], defaults: Tensor
) -> NDArray[np.float32]:
    every = torch.arange(_BYTES, dtype=torch.uint8).view(-1, 1, 1, 1).expand(-1, *shape)
    seen = encoder.prepare({"tiles": every, "features": defaults.expand(_BYTES, -1)})
    values: NDArray[np.float32] = seen[:, 0].numpy().copy()
    return values


class _Changes(NamedTuple):
    """Entries to add to a base vector to obtain each of several vectors, concatenated."""

    counts: NDArray[np.int64]
    inputs: NDArray[np.uint16]
    values: NDArray[np.float32]


def _changes(
    base: NDArray[np.float32], seen: NDArray[np.float32], numbers: NDArray[np.int64]
) -> _Changes:
    """Entries of several vectors; `numbers` are the inputs that their places belong to."""
    rows, inputs = np.nonzero(seen != base)
    was, becomes = base[inputs], seen[rows, inputs]
    change = becomes - was
    # Where rounding would give a different sum, use two entries: one to zero, one to the value.
    twice = was + change != becomes
    entries = np.repeat(np.arange(len(rows)), 1 + twice)
    second = np.diff(entries, prepend=-1) == 0
    values = np.where(twice, -was, change)[entries]
    values[second] = becomes[entries[second]]
    counts = np.bincount(rows[entries], minlength=len(seen))
    return _Changes(counts, numbers[inputs[entries]].astype(np.uint16), values)
