"""Runs that differ only in their seed, and the band that their curves span."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.config import TrainConfig
from warpzone.runs.resume import flat_options
from warpzone.runs.saved_config import FREE_OPTIONS
from warpzone.telemetry.series import rounded

Curve = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Positions and values."""

_LEAST_NAME = 3


def seed_group(config: TrainConfig) -> str:
    """A text that runs share exactly if they differ only in their seed.

    Options that do not change what is learned, such as a run's name, may differ as well.
    """
    options = {
        name: value
        for name, value in flat_options(asdict(config)).items()
        if name != "run.seed" and not _is_free(name)
    }
    return json.dumps(options, sort_keys=True, default=str)


def _is_free(name: str) -> bool:
    return name in FREE_OPTIONS or name.partition(".")[0] in FREE_OPTIONS


def group_label(runs: Sequence[str]) -> str:
    """A name for several runs: what their names begin with."""
    first, last = min(runs), max(runs)  # Whatever these share, all names share.
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    stem = "".join(letter for letter, _ in same).rstrip("-_./ ")
    return stem if len(stem) >= _LEAST_NAME else runs[0]


def band(curves: Sequence[Curve], points: int) -> dict[str, Any]:
    """Median, lowest and highest value of several curves.

    Curves have points at different positions, so they are interpolated; none is extrapolated, and
    where some have ended, those that remain make the band.

    Args:
        curves: Positions ascending, values finite.
        points: Number of positions.

    Returns:
        Lists `x`, `y`, `low` and `high`.
    """
    known = [(x, y) for x, y in curves if x.size]
    if not known:
        return {"x": [], "y": [], "low": [], "high": []}
    grid = np.linspace(min(x[0] for x, _ in known), max(x[-1] for x, _ in known), points)
    rows = np.stack([np.interp(grid, x, y, left=np.nan, right=np.nan) for x, y in known])
    covered = np.isfinite(rows).any(axis=0)
    grid, rows = grid[covered], rows[:, covered]
    return {
        "x": rounded(grid),
        "y": rounded(np.nanmedian(rows, axis=0)),
        "low": rounded(np.nanmin(rows, axis=0)),
        "high": rounded(np.nanmax(rows, axis=0)),
    }
