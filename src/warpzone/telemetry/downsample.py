"""Fewer points that look the same: the lowest and highest value of each bucket."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def downsample(x: NDArray[np.float64], y: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """Chooses the points to draw.

    Args:
        x: Positions, ascending.
        y: Values; NaN where there is none.
        most: Largest number of points to return.

    Returns:
        Their indices, ascending: every point with a value if there are few, else the lowest and the
        highest of each of `most / 2` equal spans, and both ends.
    """
    known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if known.size <= most:
        return known
    buckets = max(1, (most - 2) // 2)
    position, value = x[known], y[known]
    span = position[-1] - position[0]
    if not span > 0:
        return known[:: int(np.ceil(known.size / most))]
    bucket = np.minimum(((position - position[0]) / span * buckets).astype(np.int64), buckets - 1)
    # Sorted by bucket, then by value: the first and last of each bucket are its extremes.
    order = np.lexsort((value, bucket))
    sorted_buckets = bucket[order]
    first = np.flatnonzero(np.r_[True, sorted_buckets[1:] != sorted_buckets[:-1]])
    last = np.r_[first[1:] - 1, order.size - 1]
    chosen = np.r_[order[first], order[last], 0, known.size - 1]
    result: NDArray[np.intp] = known[np.unique(chosen)]
    return result
