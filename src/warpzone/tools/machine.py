"""Names the machine on which something was measured."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import numpy as np

import warpzone


def machine() -> dict[str, str]:
    """Returns what figures depend on."""
    return {
        "cpu": _cpu_model(),
        "cores": str(usable_cores()),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": platform.platform(),
        "warpzone": warpzone.__version__,
    }


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"
