"""Advice: observers see every row of metrics and may return sentences for the user."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

HINTS = "warpzone.training.guidance.hints"
"""The logger of advice; its lines begin with [hint]."""


class Observer(Protocol):
    """Receives rows of metrics one after another, always in the same thread."""

    def observe(self, row: Mapping[str, object]) -> Iterable[str]:
        """Returns sentences about what the row shows and what to do, usually none."""


class AdviceSink:
    """Passes rows to observers and logs their advice, for log.txt and the terminal.

    As a sink it has its own thread: an observer that is slow or fails delays nothing.
    """

    def __init__(self, observers: Sequence[Observer]) -> None:
        """Takes the observers, in the order in which they are called."""
        self._observers = observers
        self._log = logging.getLogger(HINTS)

    def write(self, row: Mapping[str, object]) -> None:
        """Calls every observer."""
        for observer in self._observers:
            for advice in observer.observe(row):
                self._log.info("%s", advice)

    def close(self) -> None:
        """Does nothing."""
