"""The checks of `warpzone doctor` and their advice."""

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

from warpzone.bench.machine import machine_info
from warpzone.envs.backends.nes_py_fixes import TESTED, check_versions
from warpzone.errors import WarpzoneError
from warpzone.rom import locate as roms
from warpzone.system.cpu import processor_cores

Level = Literal["ok", "hint", "problem"]
_MIN_FREE = 1024**3
_MIN_SHARED = 64 * 1024**2
_PACKAGES = ("numpy", "gymnasium", "torch", "stable-baselines3", "tyro", "rich", "psutil")
# Instruction sets that affect training speed.
_FEATURES = ("sse4_2", "avx2", "avx512f", "avx512_bf16", "amx_bf16")


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        name: What was checked.
        value: What was found.
        level: 'ok', 'hint' (works, but could be better) or 'problem'.
        advice: What to do about it.
    """

    name: str
    value: str
    level: Level = "ok"
    advice: str = ""


def run_checks(folder: Path, seconds: float = 1.0) -> Iterator[Finding]:
    """Runs all checks.

    Args:
        folder: Folder that runs would be written to.
        seconds: Duration of the benchmark.
    """
    yield from versions()
    yield from processor()
    yield graphics()
    rom_findings = list(check_roms())
    yield from rom_findings
    yield from folders(folder)
    yield shared_memory()
    yield nes_py()
    if rom_findings[0].level == "ok":
        yield benchmark(seconds)


def versions() -> Iterator[Finding]:
    """Checks the versions of Python and the main packages."""
    info = machine_info()
    yield Finding("warpzone", info["warpzone"])
    yield Finding("python", f"{info['python']} on {info['system']}")
    for package in _PACKAGES:
        try:
            yield Finding(package, metadata.version(package))
        except metadata.PackageNotFoundError:
            needed = package in ("torch", "psutil")
            advice = 'required for training: pip install "warpzone[train]"' if needed else ""
            yield Finding(package, "not installed", "hint" if needed else "ok", advice)


def processor() -> Iterator[Finding]:
    """Checks the processor model, usable cores and instruction sets."""
    cores = processor_cores()
    total = os.cpu_count() or 1
    of_total = f" of {total}" if cores < total else ""
    yield Finding("processor", f"{machine_info()['cpu']}, {cores}{of_total} cores")
    cpuinfo = Path("/proc/cpuinfo")
    if not cpuinfo.exists():
        yield Finding("features", platform.machine())
        return
    flags = set(cpuinfo.read_text().split())
    found = [feature for feature in _FEATURES if feature in flags]
    slow = "avx2" not in found and platform.machine() in ("x86_64", "AMD64")
    yield Finding(
        "features",
        ", ".join(found) or "none of the relevant ones",
        "hint" if slow else "ok",
        "training is several times slower without AVX2; use --obs tiles" if slow else "",
    )


def graphics() -> Finding:
    """Checks for a GPU that PyTorch can use."""
    if importlib.util.find_spec("torch") is None:
        return Finding("gpu", "unknown without torch")
    import torch

    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
        return Finding("gpu", ", ".join(names))
    if torch.backends.mps.is_available():
        return Finding("gpu", "Apple (mps)")
    return Finding(
        "gpu", "none that torch can use", "hint", "use one of the cpu presets for training"
    )


def check_roms() -> Iterator[Finding]:
    """Checks the ROMs."""
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
    """Checks that folders are writable and have enough free space."""
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
            f"{folder} is not writable ({error.strerror})",
            "problem",
            f"make {existing} writable, or choose another folder",
        )
    free = shutil.disk_usage(existing).free
    value = f"{folder}, {free / 1024**3:.1f} GiB free"
    if free < _MIN_FREE:
        return Finding(name, value, "hint", "a long run writes about 1 GB; free some disk space")
    return Finding(name, value)


def shared_memory() -> Finding:
    """Checks the shared memory that worker processes need for observations."""
    folder = Path("/dev/shm")
    if not folder.is_dir():
        return Finding("shared memory", "managed by the operating system")
    free = shutil.disk_usage(folder).free
    value = f"{free / 1024**2:,.0f} MiB free in {folder}"
    if free < _MIN_SHARED:
        return Finding(
            "shared memory",
            value,
            "hint",
            "async environments need more; start the container with --shm-size=256m, or use "
            "--vector native",
        )
    return Finding("shared memory", value)


def nes_py() -> Finding:
    """Checks the optional nes-py backend."""
    try:
        found = check_versions()
    except WarpzoneError as error:
        missing = all(importlib.util.find_spec(name) is None for name in ("nes_py", "gym"))
        if missing:
            return Finding("backend nes-py", "not installed (only needed for comparisons)")
        return Finding("backend nes-py", "unusable", "hint", str(error))
    return Finding("backend nes-py", ", ".join(f"{name} {found[name]}" for name in TESTED))


def benchmark(seconds: float) -> Finding:
    """Measures agent steps per second of the vector environment."""
    from warpzone.bench.env import measure_steps

    cores = processor_cores()
    row = measure_steps("1-1", "pixels", 16, cores, seconds)
    return Finding(
        "benchmark",
        f"{row.steps_per_second:,.0f} agent steps/s with 16 envs on {cores} threads, pixels",
    )


def with_level(findings: list[Finding], level: Level) -> list[Finding]:
    """Returns the findings of the given level."""
    return [finding for finding in findings if finding.level == level]
