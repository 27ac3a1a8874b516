"""What code under test logs."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager


class _Keeper(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@contextmanager
def logged(pattern: str) -> Iterator[None]:
    """Fails unless a warning that matches is logged inside the block."""
    keeper, logger = _Keeper(), logging.getLogger("warpzone")
    keeper.setLevel(logging.WARNING)
    logger.addHandler(keeper)
    try:
        yield
    finally:
        logger.removeHandler(keeper)
    assert any(re.search(pattern, message) for message in keeper.messages), keeper.messages
