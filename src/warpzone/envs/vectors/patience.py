"""Time limits that count only time in which this process could run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from multiprocessing.connection import wait
from typing import Any

# A pause of the whole job is noticed because one short wait took much longer than it should.
_SLICE = 1.0
_MOST_CHARGED = 2.0


class Patience:
    """A limit that is used up by waiting.

    Where jobs are stopped for a while (by a scheduler, a debugger, a lid that is closed), workers
    stop with their parent; the pause is not their fault and is not counted.
    """

    def __init__(self, seconds: float) -> None:
        """Starts with this many seconds."""
        self.left = seconds

    def slice(self) -> float:
        """How long to wait at most before the next call of `spend`."""
        return max(0.0, min(_SLICE, self.left))

    def spend(self, seconds: float) -> None:
        """Takes away what a wait of one slice took."""
        self.left -= min(seconds, _MOST_CHARGED)

    def wait(self, objects: Sequence[Any]) -> list[Any]:
        """Waits until some of the connections or sentinels are ready; none when time is up."""
        while True:
            began = time.monotonic()
            ready = wait(objects, self.slice())
            self.spend(time.monotonic() - began)
            if ready or self.left <= 0:
                return ready
