"""Actions that every contestant plays: random, mostly to the right, held for several steps.

`warpzone.bench.env.held_actions` generates the same sequence; a test keeps them equal. This copy
exists because peers run in environments without `warpzone`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

# A, B, Select, Start, Up, Down, Left, Right from bit 0; the order of the "simple" action set.
SIMPLE_ACTIONS = (0x00, 0x80, 0x81, 0x82, 0x83, 0x01, 0x40)
_PROBABILITIES = (0.05, 0.15, 0.15, 0.25, 0.30, 0.05, 0.05)
_ACTIONS_DRAWN = 100_000


def held_actions(seed: int) -> Iterator[int]:
    """Yields action indices endlessly, each held for 1 to 7 agent steps."""
    return itertools.cycle(action_sequence(seed, _ACTIONS_DRAWN).tolist())


def action_sequence(seed: int, length: int) -> np.ndarray:
    """Returns a sequence of held action indices."""
    rng = np.random.default_rng(seed)
    actions = rng.choice(len(SIMPLE_ACTIONS), size=length, p=_PROBABILITIES)
    return np.repeat(actions, rng.integers(1, 8, size=length))[:length].astype(np.int64)
