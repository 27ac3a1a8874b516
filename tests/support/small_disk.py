"""Full disks for tests: a small tmpfs where the system allows it, or injected errors."""

import errno
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def small_disk(folder: Path, size: str = "1m") -> Iterator[Path]:
    """Mounts a small file system; needs root, unlike the injected faults below."""
    if shutil.which("mount") is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("mounting a tmpfs needs root; the same fault is injected elsewhere")
    place = folder / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "warpzone-test", str(place)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip(f"no tmpfs can be mounted: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place: Path) -> Path:
    """Fills the remaining space with a file; removing the file frees it."""
    ballast = place / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    return ballast


def refuse_writes(monkeypatch: pytest.MonkeyPatch, take: int = 0) -> Callable[[], None]:
    """Makes `os.write` fail as on a full disk after `take` bytes; returns a function to undo it."""
    real = os.write

    def write(descriptor: int, data: Any) -> int:
        nonlocal take
        if take:
            part, take = take, 0
            return real(descriptor, bytes(data)[:part])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", write)
    return lambda: monkeypatch.setattr(os, "write", real)
