"""How sure a success rate is."""

from __future__ import annotations

import math
from typing import NamedTuple


class Interval(NamedTuple):
    """A range that contains the true rate with the given confidence."""

    low: float
    high: float


def wilson(successes: int, trials: int, z: float = 1.96) -> Interval:
    """Wilson's interval for a rate; 95 % by default.

    Unlike the textbook one it is sensible near 0 and 1 and for few trials.
    """
    if trials == 0:
        return Interval(0.0, 1.0)
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes out of {trials} trials cannot be")
    rate = successes / trials
    spread = z * z / trials
    centre = (rate + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(rate * (1 - rate) / trials + spread / (4 * trials))
    return Interval(max(0.0, centre - half), min(1.0, centre + half))
