"""The tile network's inputs as lists of those that are active.

Of thousands of inputs a few dozen tell anything at a time, so native code adds up their rows of
weights instead of multiplying through a vector of zeros. What it needs to list the inputs of an
observation is found here by asking the dense encoder, which remains the reference: tables are the
answers to single bytes. A feature in its default state (no object there, a button not pressed)
adds nothing to a list; what it says is part of a constant vector, the base.
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
from warpzone.models.tile_encoder import TileEncoder

_BYTES = 256
#: Objects that are not there are at no distance and do not move; everything else is 0.
_CENTRED = ("x_speed", "y_speed", "_x", "_y", "_speed", "_fall")


@dataclass(frozen=True)
class ActiveTables:
    """How observations become lists of inputs, for `_native.ActiveLayout`.

    Attributes:
        base: The inputs when no cell is set and every feature is in its default state, [inputs].
        grid_planes: Planes of the stacked grids.
        cells: Cells of a plane.
        planes: The planes that are looked at; the k-th begins at input k * cells.
        cell_values: Value of each byte of a cell, [256].
        feature_offsets: Where the entries of each byte of each feature begin, [256 * features + 1].
        feature_inputs: Input of each entry.
        feature_values: What each entry adds to its input.
        objects: The map of objects.
        first_object_input: Where that map begins.
    """

    base: NDArray[np.float32]
    grid_planes: int
    cells: int
    planes: list[int]
    cell_values: NDArray[np.float32]
    feature_offsets: NDArray[np.int32]
    feature_inputs: NDArray[np.uint16]
    feature_values: NDArray[np.float32]
    objects: MapTables
    first_object_input: int


@torch.no_grad()
def active_tables(
    encoder: TileEncoder, shape: tuple[int, int, int], features: Sequence[str]
) -> ActiveTables:
    """Asks an encoder what it makes of every byte.

    Args:
        encoder: The dense encoder.
        shape: Of the stacked grids, [C, H, W].
        features: Names of the features.
    """
    defaults = torch.tensor([_default_byte(name) for name in features], dtype=torch.uint8)
    empty = torch.zeros(1, *shape, dtype=torch.uint8)
    base = encoder.prepare({"tiles": empty, "features": defaults.unsqueeze(0)})[0]
    first_object_input = len(base) - encoder.objects.size
    single = torch.cat(encoder.single_features(defaults.unsqueeze(0)), 1)[0]
    first_single_input = first_object_input - len(single)
    changes: list[_Changes] = []
    for position in range(len(features)):
        probes = defaults.repeat(_BYTES, 1)
        probes[:, position] = torch.arange(_BYTES, dtype=torch.uint8)
        seen = torch.cat(encoder.single_features(probes), 1)
        changes.append(_changes(single.numpy(), seen.numpy(), first_single_input))
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
        objects=encoder.objects.tables(),
        first_object_input=first_object_input,
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
    """What must be added to a vector to get each of some others: entries one after another."""

    counts: NDArray[np.int64]
    inputs: NDArray[np.uint16]
    values: NDArray[np.float32]


def _changes(base: NDArray[np.float32], seen: NDArray[np.float32], first_input: int) -> _Changes:
    rows, inputs = np.nonzero(seen != base)
    was, becomes = base[inputs], seen[rows, inputs]
    change = becomes - was
    # Where rounding is in the way, two entries: first to nothing, then to what it becomes.
    twice = was + change != becomes
    entries = np.repeat(np.arange(len(rows)), 1 + twice)
    second = np.concatenate([[False], entries[1:] == entries[:-1]])
    values = np.where(twice, -was, change)[entries]
    values[second] = becomes[entries[second]]
    counts = np.bincount(rows[entries], minlength=len(seen))
    return _Changes(counts, (first_input + inputs[entries]).astype(np.uint16), values)
