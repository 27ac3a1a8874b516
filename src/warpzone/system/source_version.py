"""Which source a result comes from."""

from __future__ import annotations

import subprocess
from functools import lru_cache
from pathlib import Path

from warpzone import __version__

_PACKAGE = Path(__file__).parent
_SECONDS = 20.0


@lru_cache(maxsize=1)
def source_version() -> str:
    """The git commit of this package's own source, with '+' if it was changed since.

    Without git, or in an installed package, the version.
    """
    # An installed package may lie inside somebody else's repository, which does not know it.
    tracked = _git("ls-files", "--error-unmatch", "__init__.py")
    commit = _git("rev-parse", "HEAD") if tracked else None
    if not commit:
        return __version__
    changed = _git("status", "--porcelain", "--untracked-files=no", ".")
    return commit + ("+" if changed else "")


def _git(*words: str) -> str | None:
    """What git answers in the package's folder; None where it cannot."""
    try:
        done = subprocess.run(
            ["git", "-C", str(_PACKAGE), *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
