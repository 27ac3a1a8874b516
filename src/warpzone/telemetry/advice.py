"""Advice: observers receive every row of metrics and may return hints for the user."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

HINTS = "warpzone.training.guidance.hints"
"""Name of the logger for advice; its lines begin with [hint]."""


class Observer(Protocol):
    """Receives rows of metrics in order, always in the same thread."""

    def observe(self, row: Mapping[str, object]) -> Iterable[str]:
        """Returns hints on what the row shows and what to do; usually none."""


class AdviceSink:
    """Passes rows to observers and logs their advice, for log.txt and the terminal.

    Each sink has its own thread, so an observer that is slow or fails does not delay training.
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
