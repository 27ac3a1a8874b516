"""The package versions that the matrix installs: the oldest of pyproject.toml, or the newest."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
EXTRAS = ("train", "sb3")

#: CPU builds carry this suffix on Linux. Plain wheels from PyPI require gigabytes of GPU libraries.
CPU_BUILD = "+cpu"
NEWEST_TORCH = "2.13.0"
TORCH_USERS = ("pyarrow", "tensorboard", "stable-baselines3")

#: First releases with wheels for a newer Python, where that is later than our own lower bound.
FIRST_WHEELS = {
    "3.12": {},
    "3.13": {"numpy": "2.1.0", "pillow": "11.0.0", "pyarrow": "18.0.0", "torch": "2.6.0"},
    "3.14": {"numpy": "2.3.2", "pillow": "12.0.0", "pyarrow": "22.0.0", "torch": "2.9.0"},
}
_REQUIREMENT = re.compile(r"([A-Za-z0-9-]+)>=([0-9.]+)(.*)")


def lower_bounds(pyproject: Path = PYPROJECT) -> dict[str, str]:
    """Returns the lower bound of each dependency, including the extras that the matrix uses."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    lines = list(project["dependencies"])
    for extra in EXTRAS:
        lines += project["optional-dependencies"][extra]
    matches = [_REQUIREMENT.fullmatch(line) for line in lines]
    return {match[1]: match[2] for match in matches if match}


def oldest(python: str) -> dict[str, str]:
    """Returns the oldest supported version of each dependency for a Python such as '3.12'."""
    return lower_bounds() | FIRST_WHEELS.get(python, {})


def requirements(python: str, packages: str) -> tuple[list[str], list[str]]:
    """Returns what pip installs next to the wheel, without torch.

    Args:
        python: Version such as '3.12'.
        packages: 'oldest' or 'newest'.

    Returns:
        What works without torch, and what depends on torch.
    """
    versions = oldest(python)
    named = {
        name: f"{name}=={version}" if packages == "oldest" else name
        for name, version in versions.items()
        if name != "torch"
    }
    torch_users = [named.pop(name) for name in TORCH_USERS]
    return list(named.values()), torch_users


def torch_candidates(python: str, packages: str, gpu_builds: bool) -> list[str]:
    """Returns requirements for torch in order of preference; CPU builds come first."""
    versions = [NEWEST_TORCH]
    if packages == "oldest":
        versions.insert(0, oldest(python)["torch"])
    cpu = [f"torch=={version}{CPU_BUILD}" for version in versions]
    return [cpu[0], f"torch=={versions[0]}", *cpu[1:]] if gpu_builds else cpu
