"""One trial of starting environments, run as `python -m warpzone.doctor.trial`.

The process receives its options as JSON and prints one JSON line per stage, so that its parent
knows how far it got even if it hangs.
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
    """The environments to build, reset and close.

    Attributes:
        mode: Kind of vector environment.
        backend: Emulator backend.
        num_envs: Number of environments.
        level: Level to play.
        prewarm: See `WorkerOptions`.
        start_delay: See `WorkerOptions`.
        start_method: See `WorkerOptions`.
        timeout: Time limit per stage in seconds; None uses the default of `WorkerOptions`.
        strict_stage: Fail if the backend starts a different level.
        fallback_sync: Use 'sync' if the workers cannot be started.
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
        """Returns the worker options of this trial."""
        return WorkerOptions(
            method=self.start_method,
            prewarm=self.prewarm,
            delay=self.start_delay,
            seconds=self.timeout,
            replacements=0,  # A lost worker must fail the trial, not be replaced.
            folder=folder,
        )

    def to_json(self, folder: Path) -> str:
        """Returns the command-line argument for the trial process."""
        return json.dumps({"options": asdict(self), "folder": str(folder)})


def run(options: TrialOptions, folder: Path) -> None:
    """Builds, resets and closes the environments; prints a line at the end of each stage."""
    from warpzone.envs.vectors.make import make_vector_env

    _print_stage("import", None)  # The parent knows when this process was started.
    began = time.monotonic()
    env = make_vector_env(
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
        _print_stage("build", built - began)
        env.reset(seed=0)
        reset = time.monotonic()
        _print_stage("reset", reset - built)
    finally:
        env.close()
    _print_stage("close", time.monotonic() - reset)


def _print_stage(stage: str, seconds: float | None) -> None:
    row = {"stage": stage, "seconds": None if seconds is None else round(seconds, 4)}
    print(json.dumps(row), flush=True)


def main() -> int:
    """Runs the trial described by the command-line argument."""
    from warpzone.errors import WarpzoneError

    arguments: dict[str, Any] = json.loads(sys.argv[1])
    warnings.simplefilter("default")
    try:
        run(TrialOptions(**arguments["options"]), Path(arguments["folder"]))
    except WarpzoneError as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
