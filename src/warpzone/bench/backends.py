"""Comparing backends: speed, start-up time and memory, each measured in its own process.

`python -m warpzone.bench.backends` measures a single backend, so that the memory of the others
is not counted.
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

#: The fastest kind of vector environment for each backend.
_VECTORS: dict[str, Vector] = {"native": "native", "nes-py": "async"}


@dataclass(frozen=True)
class BackendRow:
    """Measurements of one backend with a given number of environments.

    Attributes:
        backend: Emulator backend.
        vector: Kind of vector environment.
        num_envs: Number of environments.
        steps_per_second: Agent steps of all environments together; pixels, frame skip 4.
        start_seconds: Time from creating the environments to their first observations.
        megabytes: Memory unique to the process and its workers (USS).
    """

    backend: str
    vector: str
    num_envs: int
    steps_per_second: float
    start_seconds: float
    megabytes: float


def measure_backend(backend: str, num_envs: int, seconds: float, level: str) -> BackendRow:
    """Measures a backend in a fresh process.

    Raises:
        BackendError: If the process fails; the message contains its error.
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
        reason = result.stderr.strip().splitlines() or ["no error message"]
        raise BackendError(f"backend {backend} with {num_envs} environments: {reason[-1]}")
    return BackendRow(**json.loads(result.stdout.splitlines()[-1]))


def _measure(backend: Backend, num_envs: int, seconds: float, level: str) -> BackendRow:
    from warpzone.envs.vectors.make import make_vector_env

    vector = _VECTORS[backend]
    actions = np.stack([held_actions(seed) for seed in range(num_envs)], axis=1)
    began = time.perf_counter()
    env = make_vector_env(
        level, num_envs=num_envs, vector=vector, backend=backend, autoreset="same-step"
    )
    try:
        env.reset(seed=0)
        started = time.perf_counter()
        steps = 0
        while (elapsed := time.perf_counter() - started) < seconds:
            env.step(actions[steps % len(actions)])
            steps += 1
        memory = _unique_memory()
    finally:
        env.close()
    return BackendRow(
        backend, vector, num_envs, steps * num_envs / elapsed, started - began, memory / 1024**2
    )


def _unique_memory() -> int:
    """Returns the bytes that only this process and its children use."""
    import psutil

    this = psutil.Process()
    return sum(process.memory_full_info().uss for process in (this, *this.children(True)))


def main() -> int:
    """Measures the backend given on the command line and prints the result as JSON."""
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
