"""Python interpreters of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path


def _candidates(version: str) -> Iterator[Path]:
    """Interpreters that may have a version: those on the path, then those that pyenv installed."""
    if on_path := shutil.which(f"python{version}"):
        yield Path(on_path)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}"), reverse=True)


def find_python(version: str) -> Path | None:
    """Returns an interpreter such as '3.12' that can make virtual environments, or None.

    A pyenv shim without a Python behind it does not count.
    """
    for path in _candidates(version):
        works = [path, "-c", "import ensurepip, venv"]
        if subprocess.run(works, capture_output=True, check=False).returncode == 0:
            return path
    return None
