"""Runs the real command with an injected fault in a separate process; used by test_faults.py.

    python fault_child.py FAULT ARGUMENTS...

After the command has ended, it prints the threads that are still running.
"""

from __future__ import annotations

import resource
import sys
import threading
import time

from warpzone import cli
from warpzone.system.output import say
from warpzone.training.trainer import Trainer

AT_UPDATE = 3
_real_update = Trainer.update


def _slow(self: Trainer) -> object:
    """Prints that an update has begun, and takes a minute unless it is interrupted."""
    if self.updates == AT_UPDATE:
        print("slow update", flush=True)
        for _ in range(600):
            time.sleep(0.1)
    return _real_update(self)


def _announced(self: Trainer) -> object:
    if self.updates == AT_UPDATE:
        print("several updates done", flush=True)
    return _real_update(self)


def _broken(self: Trainer) -> object:
    if self.updates == AT_UPDATE:
        raise ZeroDivisionError("a bug")
    return _real_update(self)


def _hungry(self: Trainer) -> object:
    if self.updates == AT_UPDATE:
        import torch

        raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
    return _real_update(self)


def _limited(self: Trainer) -> object:
    """Limits the size of files from now on, which simulates a full disk."""
    if self.updates == AT_UPDATE:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    return _real_update(self)


FAULTS = {
    "none": _real_update,
    "told": _announced,
    "slow": _slow,
    "broken": _broken,
    "hungry": _hungry,
    "limited": _limited,
}

if __name__ == "__main__":
    Trainer.update = FAULTS[sys.argv[1]]  # type: ignore[method-assign,assignment]
    try:
        code = cli.main(sys.argv[2:])
    finally:
        left = [thread.name for thread in threading.enumerate() if thread.name != "MainThread"]
        say(f"threads left: {left}")
    sys.exit(code)
