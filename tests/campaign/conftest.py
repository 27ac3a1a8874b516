"""What tests of campaigns share."""

from __future__ import annotations

from pathlib import Path

import pytest
from pretended_campaign import World, pretended_world


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return pretended_world(tmp_path, monkeypatch)
