"""Advice: observers see every row of metrics and may answer with a sentence for the user."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

HINTS = "warpzone.train.guidance.hints"
"""The logger that advice goes to; its lines begin with [hint]."""


class Observer(Protocol):
    """Looks at rows of metrics, one after another, always from the same thread."""

    def observe(self, row: Mapping[str, object]) -> Iterable[str]:
        """Returns plain sentences about what the row shows and what to do, mostly none."""


class AdviceSink:
    """Shows rows to observers and logs what they answer, for log.txt and the terminal.

    As a sink it has a thread of its own: an observer that is slow or fails holds up nothing.
    """

    def __init__(self, observers: Sequence[Observer]) -> None:
        """Takes the observers, in the order in which they are asked."""
        self._observers = observers
        self._log = logging.getLogger(HINTS)

    def write(self, row: Mapping[str, object]) -> None:
        """Asks every observer."""
        for observer in self._observers:
            for advice in observer.observe(row):
                self._log.info("%s", advice)

    def close(self) -> None:
        """Does nothing."""
