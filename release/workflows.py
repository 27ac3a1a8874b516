"""Checks that every action of the GitHub workflows is pinned by the hash of a commit."""

from __future__ import annotations

import re
import sys

from pins import ROOT

_USES = re.compile(r"^\s*(?:- )?uses:\s*(\S+)(.*)$", re.MULTILINE)
_PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
_VERSION = re.compile(r"\s+# v\d[\w.]*\s*")


def problems() -> list[str]:
    """Returns the actions that are not pinned, or whose version is not stated."""
    found = []
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        for action, rest in _USES.findall(path.read_text(encoding="utf-8")):
            if not _PINNED.fullmatch(action) or not _VERSION.fullmatch(rest):
                found.append(f"{path.name}: {action} must be pinned by a commit, with '# vX.Y.Z'")
    return found


def main() -> int:
    """Command line."""
    found = problems()
    print("\n".join(found) or "every action is pinned")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
