"""Runs the real command with timed faults; started by run_soak.py.

    python soak_child.py FAULT@SECONDS,... ARGUMENTS...

`slow` slows down some environment steps, `env` makes an environment raise once within a native
rollout, `disk` fails every write for ten seconds, like a full disk. Each fault is announced on
stderr.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from warpzone import cli
from warpzone.envs.vector import MarioVectorEnv
from warpzone.errors import EnvError
from warpzone.rollout.collector import CollectTimes
from warpzone.training.native_rollouts import NativeCollector
from warpzone.training.trainer import Trainer

MARK = "soak: training"
SLOW_STEPS, SLOW_SECONDS, DISK_SECONDS = 8, 0.6, 10.0


_began = float("inf")
_real_update = Trainer.update


def _first_update(self: Trainer) -> Any:
    """Starts the clock of the faults; on a busy machine it takes a while to get here."""
    global _began  # noqa: PLW0603 - this process is a single run
    _began = time.monotonic()
    Trainer.update = _real_update  # type: ignore[method-assign]
    print(MARK, file=sys.stderr, flush=True)
    return _real_update(self)


def elapsed() -> float:
    """Returns the seconds since the first update; negative before it."""
    return time.monotonic() - _began


def announce(text: str) -> None:
    print(f"fault: {text}", file=sys.stderr, flush=True)


def slow(at: float) -> None:
    """Makes several consecutive steps slow."""
    left = SLOW_STEPS
    real = MarioVectorEnv.step_into

    def step_into(self: MarioVectorEnv, *arguments: Any) -> Any:
        nonlocal left
        if left and elapsed() > at:
            if left == SLOW_STEPS:
                announce("slow steps")
            left -= 1
            time.sleep(SLOW_SECONDS)
        return real(self, *arguments)

    MarioVectorEnv.step_into = step_into  # type: ignore[method-assign,assignment]


def env(at: float) -> None:
    """Makes one environment raise once."""
    real = NativeCollector.collect

    def collect(self: NativeCollector) -> CollectTimes:
        if elapsed() > at:
            announce("an environment that raises")
            NativeCollector.collect = real  # type: ignore[method-assign]
            raise EnvError("env 3: injected by the soak test")
        return real(self)

    NativeCollector.collect = collect  # type: ignore[method-assign]


def disk(at: float) -> None:
    """Makes every write fail for a while."""
    real: Callable[[int, Any], int] = os.write
    announced = False

    def write(descriptor: int, data: Any) -> int:
        nonlocal announced
        if at < elapsed() < at + DISK_SECONDS:
            if not announced:
                announced = True
                announce("a full disk")
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, data)

    os.write = write  # type: ignore[assignment]


FAULTS = {"slow": slow, "env": env, "disk": disk}

if __name__ == "__main__":
    Trainer.update = _first_update  # type: ignore[method-assign]
    for entry in filter(None, sys.argv[1].split(",")):
        name, _, seconds = entry.partition("@")
        FAULTS[name](float(seconds))
    sys.exit(cli.main(sys.argv[2:]))
