"""Any kind of vector environment by name: the native pool, or Gymnasium's vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from warpzone.envs.backends.machine import Backend, check_backend
from warpzone.envs.options import EnvOptions, RenderMode
from warpzone.envs.vector import MarioVectorEnv
from warpzone.envs.vectors.gym_vector import GymVectorEnv
from warpzone.envs.vectors.options import Vector, WorkerOptions, check_vector

#: A vector environment of either kind.
AnyVectorEnv = MarioVectorEnv | GymVectorEnv


def make_vector_env(
    level: str | Sequence[str] = "1-1",
    *,
    num_envs: int = 1,
    vector: Vector = "native",
    backend: Backend = "native",
    num_threads: int | None = None,
    strict_stage: bool = False,
    fallback_sync: bool = False,
    workers: WorkerOptions | None = None,
    render_mode: RenderMode | None = None,
    **options: Unpack[EnvOptions],
) -> AnyVectorEnv:
    """Creates a vector environment on a backend.

    Args:
        level: Levels to play: '1-1', '1-1,1-2', '1-1..1-4', a list, 'all', or 'game'.
        num_envs: Number of environments.
        vector: 'native' for the native thread pool, 'sync' or 'async' for Gymnasium's vectors.
        backend: The emulator: 'native', or 'nes-py', which needs 'sync' or 'async'.
        num_threads: Threads of the pool; by default one per processor core.
        strict_stage: Raise an error when the emulator starts another level than requested.
        fallback_sync: Use 'sync', with a warning, when the workers of 'async' cannot be started.
        workers: How processes are started and watched.
        render_mode: None or 'rgb_array'.
        options: As for `warpzone.make_vec`.

    Raises:
        ConfigError: For a vector or backend that does not exist, or both that do not fit together.
        WorkerError: A worker could not be started; no process is left.
    """
    check_backend(backend)
    check_vector(backend, vector)
    if vector == "native":
        return MarioVectorEnv(
            level, num_envs=num_envs, num_threads=num_threads, render_mode=render_mode, **options
        )
    return GymVectorEnv(
        level,
        num_envs=num_envs,
        vector=vector,
        backend=backend,
        strict_stage=strict_stage,
        fallback_sync=fallback_sync,
        workers=workers,
        render_mode=render_mode,
        **options,
    )
