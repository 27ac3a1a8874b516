"""Installs each peer once, into its own virtual environment.

Peers pin old or conflicting dependencies (nes-py needs NumPy 1 and `gym`), so they cannot share an
environment with this project or with each other.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

#: Import path with which a peer's interpreter finds this package as `peers`, without warpzone.
IMPORT_FROM = Path(__file__).resolve().parent.parent

DEFAULT_FOLDER = Path.home() / ".cache" / "warpzone" / "peers"
RETRO_GAME = "WarpzoneSmb-Nes-v0"
_STAMP = "installed.txt"


@dataclass(frozen=True)
class Peer:
    """A peer and its exact requirements."""

    name: str
    requirements: tuple[str, ...]
    build_requirements: tuple[str, ...] = ()


STABLE_RETRO = Peer(
    "stable-retro", ("stable-retro==1.0.1", "numpy>=2,<3", "opencv-python-headless")
)
# nes-py builds from source and needs an old setuptools with pkg_resources; gym 0.26 needs NumPy 1.
NES_PY = Peer(
    "nes-py",
    ("nes-py==8.2.1", "gym-super-mario-bros==7.4.0", "gym==0.26.2", "numpy<2"),
    build_requirements=("numpy<2", "wheel", "setuptools<70"),
)
# Without this pin, torch would install gigabytes of GPU packages.
SB3 = Peer(
    "stable-baselines3",
    (
        "torch==2.13.0",
        "stable-baselines3==2.9.2",
        "opencv-python-headless<4.13",
        *NES_PY.requirements,
    ),
    build_requirements=NES_PY.build_requirements,
)

# Its assets, a dependency, contain the Atari ROMs.
ENVPOOL = Peer("envpool", ("torch==2.13.0", "envpool==1.2.5", "numpy>=2,<3"))


def find(peer: Peer, module: str, folder: Path = DEFAULT_FOLDER) -> Path | None:
    """Returns the interpreter that has a peer installed: this one, or the peer's own.

    Args:
        peer: Peer to find.
        module: Name under which the peer is imported.
        folder: Folder with one environment per peer.
    """
    if importlib.util.find_spec(module) is not None:
        return Path(sys.executable)
    home = folder / peer.name
    return _python(home) if (home / _STAMP).exists() else None


def install(peer: Peer, folder: Path) -> Path:
    """Creates the peer's environment unless it is already complete.

    Args:
        peer: Peer to install.
        folder: Folder with one environment per peer.

    Returns:
        The environment's Python interpreter.

    Raises:
        RuntimeError: If pip fails; the message contains the end of its output.
    """
    home = folder / peer.name
    python = _python(home)
    stamp = home / _STAMP
    wanted = "\n".join((sys.version, *peer.build_requirements, *peer.requirements))
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"[bench] installing {peer.name} into {home}", file=sys.stderr)
    venv.create(home, clear=True, with_pip=True)
    if peer.build_requirements:
        _pip(python, peer.build_requirements)
    _pip(python, peer.requirements)
    stamp.write_text(wanted)
    return python


def _python(home: Path) -> Path:
    return home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _pip(python: Path, requirements: tuple[str, ...]) -> None:
    command = [str(python), "-m", "pip", "install", "--quiet", *requirements]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"pip install {' '.join(requirements)} failed:\n{result.stderr[-2000:]}")


def retro_integration(folder: Path, rom: Path) -> Path:
    """Writes a stable-retro integration for the ROM.

    stable-retro only ships an integration for the American dump. A custom one without variables or
    rewards is enough here because RAM is read directly.

    Args:
        folder: Folder with the peers.
        rom: Path to the ROM.

    Returns:
        The path for `Integrations.add_custom_path`; the game is `RETRO_GAME`.
    """
    integrations = folder / "retro-integrations"
    game = integrations / RETRO_GAME
    game.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(rom, game / "rom.nes")
    digest = hashlib.sha1(rom.read_bytes(), usedforsecurity=False).hexdigest()
    (game / "rom.sha").write_text(digest + "\n")
    (game / "data.json").write_text('{"info": {}}\n')
    (game / "scenario.json").write_text("{}\n")
    (game / "metadata.json").write_text("{}\n")
    return integrations
