"""Throughput of installed peers, measured in the same run as Warpzone's."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from warpzone.bench.peers import install
from warpzone.bench.peers.serve import Worker
from warpzone.rom.locate import find_rom


def retro_steps_per_second(seconds: float, rom: Path | None) -> float | None:
    """Measures agent steps per second of stable-retro; returns None if it is not installed.

    One environment with frame skip 4, grayscale 84 x 84, a stack of 4, reward, episode ends and
    infos: the same workload as `bench env` with one environment and pixels.
    """
    python = install.find(install.STABLE_RETRO, "stable_retro")
    if python is None:
        return None
    image = find_rom(path=rom).resolve()
    integrations = install.retro_integration(install.DEFAULT_FOLDER, image)
    arguments = (str(integrations), install.RETRO_GAME)
    with closing(Worker(python, "retro_steps", *arguments)) as worker:
        return worker.rate(seconds, "wall")
