"""Describing the machine that a measurement was taken on."""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np

import warpzone
from warpzone.system.cpu import processor_cores


def machine_info() -> dict[str, str]:
    """Returns the hardware and software versions that measurements depend on."""
    return {
        "cpu": _cpu_model(),
        "cores": str(processor_cores()),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": platform.platform(),
        "warpzone": warpzone.__version__,
    }


def _cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"
