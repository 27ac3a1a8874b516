"""How PyTorch's threads wait for each other.

By default they spin. With another busy program on the machine that makes training several times
slower, since a spinning thread keeps the one that has work from running.
"""

from __future__ import annotations

import os
import sys

_VARIABLE = "OMP_WAIT_POLICY"


def wait_passively() -> None:
    """Lets the threads sleep while they wait, unless the user has decided; before torch loads.

    OpenMP reads the variable once, when PyTorch loads it. If PyTorch is loaded already, nothing is
    changed, so that `is_spinning` can tell.
    """
    if "torch" not in sys.modules:
        os.environ.setdefault(_VARIABLE, "PASSIVE")


def is_spinning() -> bool:
    """Whether PyTorch was loaded before anybody chose how its threads wait."""
    return _VARIABLE not in os.environ
