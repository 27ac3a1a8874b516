"""What `warpzone doctor` looks at, and what it advises."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from warpzone.bench.machine import machine
from warpzone.envs.backends.nes_py_mend import TESTED, check_versions
from warpzone.errors import WarpzoneError
from warpzone.rom import locate as roms
from warpzone.system.cpu import processor_cores

Level = Literal["ok", "hint", "problem"]
_LEAST_FREE = 1024**3
_LEAST_SHARED = 64 * 1024**2
_PACKAGES = ("numpy", "gymnasium", "torch", "stable-baselines3", "tyro", "rich", "psutil")
# What decides which arithmetic is quick.
_FEATURES = ("sse4_2", "avx2", "avx512f", "avx512_bf16", "amx_bf16")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        name: What.
        value: What was found.
        level: Whether it is in order; a hint is no reason to worry.
        advice: What to do about it.
    """

    name: str
    value: str
    level: Level = "ok"
    advice: str = ""


def examine(folder: Path, seconds: float = 1.0) -> Iterator[Finding]:
    """Looks at one thing after the other.

    Args:
        folder: Where runs would be written.
        seconds: How long the benchmark takes.
    """
    yield from versions()
    yield from processor()
    yield graphics()
    images = list(games())
    yield from images
    yield from folders(folder)
    yield shared_memory()
    yield nes_py()
    if images[0].level == "ok":
        yield benchmark(seconds)


def versions() -> Iterator[Finding]:
    """Python and the packages that matter."""
    here = machine()
    yield Finding("warpzone", here["warpzone"])
    yield Finding("python", f"{here['python']} on {here['system']}")
    for package in _PACKAGES:
        try:
            yield Finding(package, metadata.version(package))
        except metadata.PackageNotFoundError:
            trains = package in ("torch", "psutil")
            advice = "training needs it: pip install 'warpzone[train]'" if trains else ""
            yield Finding(package, "not installed", "hint" if trains else "ok", advice)


def processor() -> Iterator[Finding]:
    """Model, cores and instruction sets."""
    cores = processor_cores()
    present = os.cpu_count() or 1
    less = f" of {present}" if cores < present else ""
    yield Finding("processor", f"{machine()['cpu']}, {cores}{less} cores")
    information = Path("/proc/cpuinfo")
    if not information.exists():
        yield Finding("features", platform.machine())
        return
    flags = set(information.read_text().split())
    found = [feature for feature in _FEATURES if feature in flags]
    slow = "avx2" not in found and platform.machine() in ("x86_64", "AMD64")
    yield Finding(
        "features",
        ", ".join(found) or "none of note",
        "hint" if slow else "ok",
        "without AVX2 training is several times slower; use --obs tiles" if slow else "",
    )


def graphics() -> Finding:
    """A GPU that torch can use."""
    if importlib.util.find_spec("torch") is None:
        return Finding("gpu", "unknown without torch")
    import torch

    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
        return Finding("gpu", ", ".join(names))
    if torch.backends.mps.is_available():
        return Finding("gpu", "Apple (mps)")
    return Finding(
        "gpu", "none that torch can use", "hint", "the cpu presets are made for this machine"
    )


def games() -> Iterator[Finding]:
    """The game's images."""
    for row in roms.status():
        if row.info is not None:
            yield Finding(f"rom {row.game}", f"{row.info.name} at {row.path}")
        else:
            needed = row.game == roms.SMB
            yield Finding(
                f"rom {row.game}",
                "missing or unusable",
                "problem" if needed else "hint",
                row.problem or "run `warpzone rom install`",
            )


def folders(runs: Path) -> Iterator[Finding]:
    """Where something must be written: permissions and space."""
    for name, folder in (
        ("runs folder", runs),
        ("data folder", roms.data_folder()),
        ("temporary folder", Path(tempfile.gettempdir())),
    ):
        yield _writable(name, folder)


def _writable(name: str, folder: Path) -> Finding:
    existing = next(path for path in (folder, *folder.absolute().parents) if path.is_dir())
    try:
        with tempfile.TemporaryFile(dir=existing) as file:
            file.write(b"warpzone")
    except OSError as error:
        return Finding(
            name,
            f"{folder} cannot be written ({error.strerror})",
            "problem",
            f"give yourself the right to write in {existing}, or choose another folder",
        )
    free = shutil.disk_usage(existing).free
    value = f"{folder}, {free / 1024**3:.1f} GiB free"
    if free < _LEAST_FREE:
        return Finding(name, value, "hint", "a long run writes about a gigabyte: make room")
    return Finding(name, value)


def shared_memory() -> Finding:
    """Room for observations that processes share."""
    folder = Path("/dev/shm")
    if not folder.is_dir():
        return Finding("shared memory", "the system's own way")
    free = shutil.disk_usage(folder).free
    value = f"{free / 1024**2:,.0f} MiB free in {folder}"
    if free < _LEAST_SHARED:
        return Finding(
            "shared memory",
            value,
            "hint",
            "processes need some: give a container --shm-size=256m, or use --vector native",
        )
    return Finding("shared memory", value)


def nes_py() -> Finding:
    """The other backend."""
    try:
        found = check_versions()
    except WarpzoneError as error:
        missing = all(importlib.util.find_spec(name) is None for name in ("nes_py", "gym"))
        if missing:
            return Finding("backend nes-py", "not installed; nobody needs it but to compare")
        return Finding("backend nes-py", "unusable", "hint", str(error))
    return Finding("backend nes-py", ", ".join(f"{name} {found[name]}" for name in TESTED))


def benchmark(seconds: float) -> Finding:
    """Agent steps a second of the pool."""
    from warpzone.bench.env import measure_steps

    cores = processor_cores()
    row = measure_steps("1-1", "pixels", 16, cores, seconds)
    return Finding(
        "benchmark",
        f"{row.steps_per_second:,.0f} agent steps/s with 16 games on {cores} threads, pixels",
    )


def problems(findings: list[Finding], level: Level = "problem") -> list[Finding]:
    """Those of a level."""
    return [finding for finding in findings if finding.level == level]
