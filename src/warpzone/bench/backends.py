"""Backends side by side: speed, start and memory, each in a process of its own.

`python -m warpzone.bench.backends` measures one of them, so that the memory of the others
does not count.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass

import numpy as np

from warpzone.bench.env import held_actions
from warpzone.envs.backends.machine import Backend, check_backend
from warpzone.envs.vectors.options import Vector
from warpzone.errors import BackendError, WarpzoneError

#: How each backend is at its best.
_VECTORS: dict[str, Vector] = {"native": "native", "nes-py": "async"}


@dataclass(frozen=True)
class BackendRow:
    """What was measured of a backend with a number of games.

    Attributes:
        backend: The machine.
        vector: How its games run.
        num_envs: How many.
        steps_per_second: Agent steps of all games together, frame skip 4, pixels.
        start_seconds: From the call that makes the games to their first observations.
        megabytes: Memory that the process and its workers do not share with others.
    """

    backend: str
    vector: str
    num_envs: int
    steps_per_second: float
    start_seconds: float
    megabytes: float


def measure_backend(backend: str, num_envs: int, seconds: float, level: str) -> BackendRow:
    """Measures in a fresh process.

    Raises:
        BackendError: The process failed; the text is its own.
    """
    check_backend(backend)
    task = json.dumps([backend, num_envs, seconds, level])
    result = subprocess.run(
        [sys.executable, "-m", "warpzone.bench.backends", task],
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        reason = result.stderr.strip().splitlines() or ["no reason was given"]
        raise BackendError(f"backend {backend} with {num_envs} games: {reason[-1]}")
    return BackendRow(**json.loads(result.stdout.splitlines()[-1]))


def _measure(backend: Backend, num_envs: int, seconds: float, level: str) -> BackendRow:
    from warpzone.envs.vectors.make import make_vector_env

    vector = _VECTORS[backend]
    actions = np.stack([held_actions(seed) for seed in range(num_envs)], axis=1)
    began = time.perf_counter()
    games = make_vector_env(
        level, num_envs=num_envs, vector=vector, backend=backend, autoreset="same-step"
    )
    try:
        games.reset(seed=0)
        started = time.perf_counter()
        steps = 0
        while (elapsed := time.perf_counter() - started) < seconds:
            games.step(actions[steps % len(actions)])
            steps += 1
        memory = _own_memory()
    finally:
        games.close()
    return BackendRow(
        backend, vector, num_envs, steps * num_envs / elapsed, started - began, memory / 1024**2
    )


def _own_memory() -> int:
    """Bytes of this process and its children that are not shared with other programs."""
    import psutil

    here = psutil.Process()
    return sum(process.memory_full_info().uss for process in (here, *here.children(True)))


def main() -> int:
    """Measures what the command line asks for and prints it as JSON."""
    backend, num_envs, seconds, level = json.loads(sys.argv[1])
    try:
        row = _measure(backend, num_envs, seconds, level)
    except WarpzoneError as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(asdict(row)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
