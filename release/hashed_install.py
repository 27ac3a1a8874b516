"""Installs what `pip install warpzone` needs with --require-hashes, in a new environment.

    python release/hashed_install.py dist/warpzone-0.1.0-*.whl

Installs the pinned runtime dependencies by hash, then the wheel, and runs `warpzone --version`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from importlib import metadata
from pathlib import Path

from lock import formatted
from packaging.requirements import Requirement
from pins import Pin, normalized, read_hashed


def runtime_pins() -> list[Pin]:
    """Returns the pins that `warpzone` needs without extras, with all their dependencies."""
    pins = {pin.key: pin for pin in read_hashed()}
    needed: dict[str, Pin] = {}
    waiting = ["warpzone"]
    while waiting:
        for line in metadata.requires(waiting.pop()) or []:
            requirement = Requirement(line)
            key = normalized(requirement.name)
            if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
                continue
            if key not in needed:
                needed[key] = pins[key]
                waiting.append(key)
    return list(needed.values())


def main() -> int:
    """Command line."""
    if len(sys.argv) != 2:
        print("usage: python release/hashed_install.py WHEEL", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "env", with_pip=True)
        binaries = place / "env" / ("Scripts" if sys.platform == "win32" else "bin")
        requirements = place / "requirements.txt"
        requirements.write_text(formatted(runtime_pins()), encoding="utf-8")
        pip = [str(binaries / "python"), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "--require-hashes", "-r", str(requirements)], check=True)
        subprocess.run([*pip, "--no-deps", sys.argv[1]], check=True)
        subprocess.run([str(binaries / "warpzone"), "--version"], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
