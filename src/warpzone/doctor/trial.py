"""One trial of starting environments, in a process of its own: `python -m warpzone.doctor.trial`.

It gets its options as JSON and prints a JSON line at each stage, so that whoever started it knows
how far it got even when it hangs.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from warpzone.envs.backends.machine import Backend
from warpzone.envs.vectors.options import StartMethod, WorkerOptions

Mode = Literal["native", "sync", "async"]
STAGES = ("import", "build", "reset", "close")


@dataclass(frozen=True)
class TrialOptions:
    """What is built, reset and closed.

    Attributes:
        mode: The kind of vector.
        backend: The machine.
        num_envs: Number of games.
        level: What is played.
        prewarm: As in `WorkerOptions`.
        start_delay: As in `WorkerOptions`.
        start_method: As in `WorkerOptions`.
        timeout: Limit of each stage in seconds; None means that of `WorkerOptions`.
        strict_stage: Fail when another level begins.
        fallback_sync: Use 'sync' when the workers cannot be started.
    """

    mode: Mode = "native"
    backend: Backend = "native"
    num_envs: int = 8
    level: str = "1-1"
    prewarm: int = 0
    start_delay: float = 0.0
    start_method: StartMethod = "spawn"
    timeout: float | None = None
    strict_stage: bool = False
    fallback_sync: bool = False

    def workers(self, folder: Path | None = None) -> WorkerOptions:
        """How the workers are started."""
        return WorkerOptions(
            method=self.start_method,
            prewarm=self.prewarm,
            delay=self.start_delay,
            seconds=self.timeout,
            replacements=0,  # A lost worker is what a trial wants to know of.
            folder=folder,
        )

    def to_json(self, folder: Path) -> str:
        """For the command line of a trial."""
        return json.dumps({"options": asdict(self), "folder": str(folder)})


def run(options: TrialOptions, folder: Path) -> None:
    """Builds, resets and closes; prints a line at the end of each stage."""
    from warpzone.envs.vectors.make import make_vector_env

    _tell("import", None)  # Only whoever started this process knows since when.
    began = time.monotonic()
    games = make_vector_env(
        options.level,
        num_envs=options.num_envs,
        vector=options.mode,
        backend=options.backend,
        strict_stage=options.strict_stage,
        fallback_sync=options.fallback_sync,
        workers=options.workers(folder),
        obs="tiles",
    )
    try:
        built = time.monotonic()
        _tell("build", built - began)
        games.reset(seed=0)
        reset = time.monotonic()
        _tell("reset", reset - built)
    finally:
        games.close()
    _tell("close", time.monotonic() - reset)


def _tell(stage: str, seconds: float | None) -> None:
    row = {"stage": stage, "seconds": None if seconds is None else round(seconds, 4)}
    print(json.dumps(row), flush=True)


def main() -> int:
    """Runs the trial that the command line describes."""
    from warpzone.errors import WarpzoneError

    given: dict[str, Any] = json.loads(sys.argv[1])
    warnings.simplefilter("default")
    try:
        run(TrialOptions(**given["options"]), Path(given["folder"]))
    except WarpzoneError as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
