"""From the tile network to its native twin, which acts and learns over lists of active inputs."""

from __future__ import annotations

from collections.abc import Sequence

from warpzone import _native
from warpzone.models.active_inputs import active_tables
from warpzone.models.encoders import TileEncoder

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
