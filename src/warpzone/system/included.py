"""Files that come with the package: trained policies and solutions."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

_PACKAGE = Path(__file__).resolve().parent.parent


def included_folder(name: Literal["policies", "solutions"]) -> Path:
    """The folder of the policies or solutions that come with Warpzone.

    A wheel has them inside the package. A development install uses those of the repository, so that
    they are never out of date.
    """
    inside = _PACKAGE / "data" / name
    return inside if inside.is_dir() else _PACKAGE.parent.parent / name
