"""Serves a dashboard as long as standard input stays open: the process of `train --dashboard`."""

from __future__ import annotations

import sys
from pathlib import Path

from warpzone.dashboard.server import running
from warpzone.dashboard.settings import Settings
from warpzone.errors import WarpzoneError


def main(folder: str) -> int:
    """Prints the address, or why there is none, and serves until standard input ends."""
    try:
        with running(Settings(Path(folder), port=0)) as (_, address):
            print(address, flush=True)
            sys.stdin.read()
    except WarpzoneError as error:
        print(f"error: {error}", flush=True)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
