"""The real command with faults that come by the clock; run by run_soak.py.

    python soak_child.py FAULT@SECONDS,... ARGUMENTS...

`slow` makes some steps of the games slow, `lane` lets a lane raise once, `disk` refuses every write
for ten seconds, as a full disk does. Each fault says on the standard error that it was there.
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
from warpzone.train.trainer import Trainer

MARK = "soak: trains"
SLOW_STEPS, SLOW_SECONDS, DISK_SECONDS = 8, 0.6, 10.0


_began = float("inf")
_real_update = Trainer.update


def _first_update(self: Trainer) -> Any:
    """Starts the clock of the faults, since a busy machine takes its time to get here."""
    global _began  # noqa: PLW0603 - the child is one run
    _began = time.monotonic()
    Trainer.update = _real_update  # type: ignore[method-assign]
    print(MARK, file=sys.stderr, flush=True)
    return _real_update(self)


def passed() -> float:
    """Seconds since the first update began; negative before."""
    return time.monotonic() - _began


def say(text: str) -> None:
    print(f"fault: {text}", file=sys.stderr, flush=True)


def slow(at: float) -> None:
    """Several steps in a row take long."""
    left = SLOW_STEPS
    real = MarioVectorEnv.step_into

    def step_into(self: MarioVectorEnv, *arguments: Any) -> Any:
        nonlocal left
        if left and passed() > at:
            if left == SLOW_STEPS:
                say("slow steps")
            left -= 1
            time.sleep(SLOW_SECONDS)
        return real(self, *arguments)

    MarioVectorEnv.step_into = step_into  # type: ignore[method-assign,assignment]


def lane(at: float) -> None:
    """One lane raises, once."""
    real = MarioVectorEnv.step_into

    def step_into(self: MarioVectorEnv, *arguments: Any) -> Any:
        if passed() > at:
            say("a lane that raises")
            MarioVectorEnv.step_into = real  # type: ignore[method-assign]
            raise EnvError("lane 3: injected by the soak test")
        return real(self, *arguments)

    MarioVectorEnv.step_into = step_into  # type: ignore[method-assign,assignment]


def disk(at: float) -> None:
    """No write succeeds for a while."""
    real: Callable[[int, Any], int] = os.write
    said = False

    def write(descriptor: int, data: Any) -> int:
        nonlocal said
        if at < passed() < at + DISK_SECONDS:
            if not said:
                said = True
                say("a full disk")
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, data)

    os.write = write  # type: ignore[assignment]


FAULTS = {"slow": slow, "lane": lane, "disk": disk}

if __name__ == "__main__":
    Trainer.update = _first_update  # type: ignore[method-assign]
    for entry in filter(None, sys.argv[1].split(",")):
        name, _, seconds = entry.partition("@")
        FAULTS[name](float(seconds))
    sys.exit(cli.main(sys.argv[2:]))
