"""Where a cell of the matrix runs: on this machine, or in a Debian release installed apart."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from interpreters import find_python

DEBIAN_MIRROR = "http://deb.debian.org/debian"
# Debian builds torch without GPU libraries.
DEBIAN_PACKAGES = "python3-venv,python3-dev,g++,python3-torch,ca-certificates"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
#: Variables that name programs and folders of this machine.
HOST_VARIABLES = ("CMAKE_CXX_COMPILER_LAUNCHER", "PIP_FIND_LINKS")
# Mounts vanish with the namespace, so nothing is left behind if the program is killed.
ENTER = """
root=$1 folder=$2 rom=$3; shift 3
mkdir -p "$root$folder" "$root$(dirname "$rom")" && touch "$root$rom"
mount --bind "$folder" "$root$folder" && mount --bind "$rom" "$root$rom"
mount -t proc proc "$root/proc" && exec chroot "$root" "$@"
"""


class ObstacleError(Exception):
    """A cell cannot run on this machine; the message says why."""


@dataclass(frozen=True)
class LocalPython:
    """An interpreter of this machine."""

    version: str
    system_packages = False

    @property
    def name(self) -> str:
        """Name in the table."""
        return "this machine"

    @property
    def key(self) -> str:
        """Beginning of the names of cells."""
        return f"python-{self.version}"

    def command(self, folder: Path, rom: Path) -> list[str]:
        """Returns the command of the interpreter.

        Raises:
            ObstacleError: If this machine does not have it.
        """
        del folder, rom  # Both are visible anyway.
        path = find_python(self.version)
        if path is None:
            raise ObstacleError(f"this machine has no Python {self.version}")
        return [str(path)]


@dataclass(frozen=True)
class DebianPython:
    """The interpreter and torch of a Debian release, installed with debootstrap by root."""

    suite: str
    version: str
    system_packages = True

    @property
    def name(self) -> str:
        """Name in the table."""
        return f"Debian {self.suite}"

    @property
    def key(self) -> str:
        """Beginning of the names of cells."""
        return f"debian-{self.suite}"

    def command(self, folder: Path, rom: Path) -> list[str]:
        """Returns a command that enters the release and starts its interpreter.

        Raises:
            ObstacleError: If the release cannot be installed here.
        """
        root = folder / "build" / "debian" / self.suite
        if not (root / "usr/bin/python3").exists():
            self._install(root)
        if CERTIFICATES.exists():
            shutil.copy(CERTIFICATES, root / CERTIFICATES.relative_to("/"))
        enter = ["unshare", "--mount", "sh", "-ec", ENTER, "sh"]
        clean = ["env", *(f"--unset={name}" for name in HOST_VARIABLES)]
        return [*enter, str(root), str(folder), str(rom), *clean, "/usr/bin/python3"]

    def _install(self, root: Path) -> None:
        if os.name != "posix" or os.geteuid() != 0 or not shutil.which("debootstrap"):
            raise ObstacleError(f"Debian {self.suite} needs root and debootstrap")
        root.parent.mkdir(parents=True, exist_ok=True)
        options = ["--variant=minbase", f"--include={DEBIAN_PACKAGES}"]
        # Older versions of debootstrap do not know newer releases, which are installed alike.
        script = "/usr/share/debootstrap/scripts/sid"
        command = ["debootstrap", *options, self.suite, str(root), DEBIAN_MIRROR, script]
        if subprocess.run(command, check=False).returncode:
            raise ObstacleError(f"debootstrap could not install Debian {self.suite}")


Place = LocalPython | DebianPython
PLACES: tuple[Place, ...] = (
    LocalPython("3.11"),
    LocalPython("3.12"),
    LocalPython("3.13"),
    LocalPython("3.14"),
    DebianPython("trixie", "3.13"),
    DebianPython("forky", "3.14"),
)
