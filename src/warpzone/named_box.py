"""A Gymnasium `Box` whose entries have names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from gymnasium import spaces


class NamedBox(spaces.Box):
    """A vector of bytes with a name for each entry, so that a network can tell them apart."""

    def __init__(self, names: Sequence[str]) -> None:
        """Makes the space of uint8 vectors with one entry per name."""
        super().__init__(0, 255, (len(names),), np.uint8)
        self.names = tuple(names)
