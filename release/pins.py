"""The exact versions in constraints.txt, and the hashes of their files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
HASHED = ROOT / "requirements-hashed.txt"


@dataclass(frozen=True)
class Pin:
    """A distribution at an exact version.

    Attributes:
        name: Name as constraints.txt spells it.
        version: The version.
        hashes: SHA-256 of the files that may be installed; empty in constraints.txt.
    """

    name: str
    version: str
    hashes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Normalized name, as in the index."""
        return normalized(self.name)


def normalized(name: str) -> str:
    """Normalizes the name of a distribution: lower case, with single dashes."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_constraints() -> list[Pin]:
    """Reads the pins of constraints.txt."""
    lines = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    parts = [line.partition("==") for line in lines if line and not line.startswith("#")]
    return [Pin(name, version) for name, _, version in parts]


def read_hashed() -> list[Pin]:
    """Reads the pins and hashes of requirements-hashed.txt."""
    text = HASHED.read_text(encoding="utf-8").replace("\\\n", " ")
    pins = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            requirement, *options = line.split()
            name, _, version = requirement.partition("==")
            hashes = tuple(option.removeprefix("--hash=sha256:") for option in options)
            pins.append(Pin(name, version, hashes))
    return pins
