"""Values that change with the share of the run that is done, or with success."""

from __future__ import annotations

import math
from typing import Literal

Shape = Literal["constant", "linear", "cosine"]


def scheduled(
    shape: Shape, progress: float, final_share: float, warmup: float = 0.0, step: float = 0.0
) -> float:
    """The factor on an initial value.

    Args:
        shape: How it decays.
        progress: Share of the run that is done.
        final_share: The factor at the end.
        warmup: Share of the run over which it rises linearly.
        step: Share of the run that an update adds; the first one already gets this much.
    """
    if warmup > 0 and progress < warmup:
        return min(1.0, (progress + step) / warmup)
    if shape == "constant":
        return 1.0
    done = min(max((progress - warmup) / max(1.0 - warmup, 1e-9), 0.0), 1.0)
    left = 1.0 - done if shape == "linear" else 0.5 * (1.0 + math.cos(math.pi * done))
    return final_share + (1.0 - final_share) * left


def lerp(start: float, end: float, share: float) -> float:
    """Interpolates linearly between two values; `share` is limited to 0 to 1."""
    bounded = min(max(share, 0.0), 1.0)
    return start + (end - start) * bounded
