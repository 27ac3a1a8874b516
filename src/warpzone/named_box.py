"""A Gymnasium `Box` whose entries have names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from gymnasium import spaces


class NamedBox(spaces.Box):
    """A vector of bytes with one name per entry, so that a network can pick entries by name."""

    def __init__(self, names: Sequence[str]) -> None:
        """Creates a space of uint8 vectors with one entry per name."""
        super().__init__(0, 255, (len(names),), np.uint8)
        self.names = tuple(names)
