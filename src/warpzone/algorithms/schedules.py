"""Schedules of hyperparameters over the run or the clear rate."""

from __future__ import annotations

import math
from typing import Literal

Shape = Literal["constant", "linear", "cosine"]


def scheduled(
    shape: Shape, progress: float, final_share: float, warmup: float = 0.0, step: float = 0.0
) -> float:
    """Returns the factor by which a schedule scales an initial value.

    Args:
        shape: Shape of the decay.
        progress: Fraction of the run completed.
        final_share: Factor at the end of the run.
        warmup: Fraction of the run over which the factor rises linearly.
        step: Fraction of the run per update, so that the first update has a nonzero factor.
    """
    if warmup > 0 and progress < warmup:
        return min(1.0, (progress + step) / warmup)
    if shape == "constant":
        return 1.0
    done = min(max((progress - warmup) / max(1.0 - warmup, 1e-9), 0.0), 1.0)
    left = 1.0 - done if shape == "linear" else 0.5 * (1.0 + math.cos(math.pi * done))
    return final_share + (1.0 - final_share) * left


def lerp(start: float, end: float, share: float) -> float:
    """Interpolates linearly between two values; `share` is clamped to [0, 1]."""
    bounded = min(max(share, 0.0), 1.0)
    return start + (end - start) * bounded
