"""Repeatedly kills a process that writes checkpoints, and checks the files it leaves.

    python checkpoint_child.py FOLDER TRIALS SEED

This is a separate program so that writers can be forked from a process without threads: starting
Python and torch 200 times would take minutes.
"""

import json
import os
import random
import select
import signal
import struct
import sys
import time
from pathlib import Path

import torch

from warpzone.runs.checkpoint import CheckpointMeta, load
from warpzone.runs.checkpoint_store import CheckpointStore, find_latest

SIZE = 200_000
ACKNOWLEDGED = struct.Struct("<q")


def state_of(update: int) -> dict[str, object]:
    return {"update": update, "data": torch.full((SIZE,), float(update)), "blob": bytes([7] * 999)}


def check(path: Path) -> int:
    state = load(path).state
    assert state["data"].shape == (SIZE,)
    assert bool((state["data"] == float(state["update"])).all())
    assert state["blob"] == bytes([7] * 999)
    return int(state["update"])


def write_forever(folder: Path, pipe: int) -> None:
    """Resumes, then saves as fast as it can, and reports each update that is saved."""
    latest = find_latest(folder)
    update = 0 if latest is None else check(latest)
    store = CheckpointStore(folder, keep=2)
    while True:
        update += 1
        store.save(state_of(update), CheckpointMeta(update * 10, update), best=update % 7 == 0)
        os.write(pipe, ACKNOWLEDGED.pack(update))


def kill_one(folder: Path, delay: float, after: int) -> int:
    """Runs a writer briefly after its start or a later checkpoint, and kills it.

    Returns:
        The last update that it reported as saved.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            write_forever(folder, writer)
        finally:
            os._exit(1)
    os.close(writer)
    told = bytearray()
    while len(told) < after * ACKNOWLEDGED.size:
        assert select.select([reader], [], [], 60)[0], "the writer made no progress"
        told += os.read(reader, 65536)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the writer exited by itself"
    while select.select([reader], [], [], 0)[0] and (data := os.read(reader, 65536)):
        told += data
    os.close(reader)
    whole = len(told) // ACKNOWLEDGED.size * ACKNOWLEDGED.size
    return ACKNOWLEDGED.unpack(told[whole - ACKNOWLEDGED.size : whole])[0] if whole else 0


def main(folder: Path, trials: int, seed: int) -> dict[str, int]:
    torch.set_num_threads(1)
    rng = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    safe = torn = lonely = 0
    for trial in range(trials):
        after = rng.randint(2, 4) if trial % 2 else 0
        safe = max(safe, kill_one(folder, rng.uniform(0.0, 0.06), after))
        names = {entry.name for entry in folder.iterdir()}
        torn += any(".tmp" in name for name in names)
        checkpoints = [folder / name for name in names if name.endswith(".pt") and name[0] != "."]
        lonely += any(path.with_suffix(".json").name not in names for path in checkpoints)
        for path in checkpoints:
            check(path)
        latest = find_latest(folder)
        assert latest is not None or safe == 0
        assert latest is None or check(latest) >= safe, "a saved update is lost"
    store = CheckpointStore(folder, keep=2)
    store.save(state_of(safe + 1), CheckpointMeta(0, safe + 1))
    assert len(list(folder.glob("*.pt"))) <= 2 + 1, "more than the last two and the best were kept"
    assert not list(folder.glob(".*.tmp*"))
    return {"updates": safe, "torn": torn, "lonely": lonely}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
