"""Wheels that `make wheel` has built, so that the matrix need not compile them again."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path


def copy_wheel(wheels: Path, python: str, source: Path, made: Path) -> bool:
    """Copies the wheel for a Python, if there is one.

    Args:
        wheels: Folder with wheels.
        python: Version such as '3.12'.
        source: The source code that the wheel must come from.
        made: Folder for the wheel; it is created.

    Returns:
        Whether there was one.

    Raises:
        SystemExit: A Python file of the wheel differs from the source code.
    """
    tag = f"cp{python.replace('.', '')}"
    found = sorted(wheels.glob(f"warpzone-*-{tag}-{tag}-*.whl"), key=lambda p: p.stat().st_mtime)
    if not found:
        return False
    if different := _different_files(found[-1], source):
        raise SystemExit(f"{found[-1]} is of another commit: {different[0]} differs; rebuild it")
    made.mkdir(parents=True)
    shutil.copy(found[-1], made)
    return True


def _different_files(wheel: Path, source: Path) -> list[str]:
    """Returns the Python files of the package that the wheel and the source do not share."""
    package = source / "src"
    files = {path.relative_to(package).as_posix(): path for path in package.rglob("*.py")}
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if name.endswith(".py")}
        changed = {
            name for name in inside & files.keys() if archive.read(name) != files[name].read_bytes()
        }
    return sorted(inside ^ files.keys() | changed)
