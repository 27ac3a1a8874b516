from __future__ import annotations

import pytest
from explorer import play_until


@pytest.fixture(scope="session")
def before_the_flag() -> bytes:
    """A save state near the end of 1-1: running to the right clears it."""
    return play_until("1-1", 2900)
