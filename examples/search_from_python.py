"""Finds inputs that clear a level, replays them, and writes them to a file.

python examples/search_from_python.py --level 1-1
"""

from __future__ import annotations

import argparse
from pathlib import Path

import warpzone
from warpzone.search.replay import verify
from warpzone.search.solution import write_solution


def main() -> None:
    """Searches."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--level", default="1-1")
    parser.add_argument("--steps", type=int, help="limit on emulated frames")
    parser.add_argument("--output", type=Path, default=Path("found"), help="folder to write to")
    arguments = parser.parse_args()
    result = warpzone.solve(
        arguments.level,
        frames=arguments.steps,
        on_progress=lambda now: print(f"{now.frames:,} frames, {now.cells:,} cells", end="\r"),
    )
    print(f"\n{result}")
    if result.solution is not None:
        verify(result.solution)  # Replays it from power-on.
        arguments.output.mkdir(parents=True, exist_ok=True)
        path = arguments.output / f"{arguments.level}.solution"
        write_solution(path, result.solution)
        print(f"wrote {path}; `warpzone video {path} -o solution.mp4` records it")


if __name__ == "__main__":
    main()
