"""What a checkpoint contains: `warpzone runs show`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from warpzone.errors import CheckpointError
from warpzone.runs import checkpoint
from warpzone.runs.checkpoint import CheckpointMeta, Sidecar
from warpzone.runs.checkpoint_store import (
    BEST,
    LATEST,
    find_latest,
    list_checkpoints,
    read_pointer,
)
from warpzone.runs.directory import run_of
from warpzone.runs.listing import RunSummary, summarize_run


@dataclass(frozen=True)
class CheckpointContent:
    """One checkpoint and its contents.

    Attributes:
        run: Summary of its run.
        path: The file.
        marks: 'latest' and 'best', where they point to it.
        meta: Steps, updates, configuration, versions and further notes.
        size: Bytes of the file.
        sidecar: Condition of its sidecar file.
        parameters: Number of the network's parameters by part.
        sizes: Bytes by part of the saved state.
    """

    run: RunSummary
    path: Path
    marks: tuple[str, ...]
    meta: CheckpointMeta
    size: int
    sidecar: Sidecar
    parameters: Mapping[str, int]
    sizes: Mapping[str, int]

    @property
    def compiled(self) -> bool:
        """Whether the network was compiled when it was saved; weights are the same either way."""
        return bool(self.meta.config.get("run", {}).get("compile", False))


@dataclass(frozen=True)
class CheckpointLine:
    """One checkpoint of a run without its contents; steps are None when it is unreadable."""

    path: Path
    marks: tuple[str, ...]
    size: int
    steps: int | None
    clear_rate: float | None


def look_into(target: Path) -> CheckpointContent:
    """Loads a checkpoint, or the latest of a run, and describes it.

    Raises:
        RunError: There is no run, or it has no checkpoint.
        CheckpointError: It is damaged.
    """
    run = run_of(target).path
    # Before anything is verified, which rewrites a bad sidecar.
    sidecars = {path: checkpoint.sidecar_of(path) for path in list_checkpoints(run)}
    path = target if target.is_file() else find_latest(run)
    if path is None:
        raise CheckpointError(f"{target} has no checkpoint yet; `warpzone runs` lists the runs")
    sidecar = sidecars.get(path) or checkpoint.sidecar_of(path)
    loaded = checkpoint.load(path)
    return CheckpointContent(
        run=summarize_run(run),
        path=path,
        marks=_marks(path),
        meta=loaded.meta,
        size=path.stat().st_size,
        sidecar=sidecar,
        parameters=_counted(loaded.state.get("model", {})),
        sizes={name: _bytes_in(part) for name, part in loaded.state.items()},
    )


def checkpoint_lines(target: Path) -> list[CheckpointLine]:
    """All checkpoints of a run, newest first."""
    return [_line(path) for path in list_checkpoints(run_of(target).path)]


def _line(path: Path) -> CheckpointLine:
    try:
        meta = checkpoint.read_meta(path)
    except CheckpointError:
        return CheckpointLine(path, _marks(path), path.stat().st_size, None, None)
    rate = meta.extra.get("clear_rate")
    return CheckpointLine(path, _marks(path), path.stat().st_size, meta.steps, rate)


def _marks(path: Path) -> tuple[str, ...]:
    return tuple(name for name in (LATEST, BEST) if read_pointer(path.parent, name) == path)


def _counted(weights: Mapping[str, torch.Tensor]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name, weight in weights.items():
        part = name.partition(".")[0]
        counts[part] = counts.get(part, 0) + weight.numel()
    return counts


def _bytes_in(value: Any) -> int:
    """Bytes of a part of the state: tensors and blobs; everything else counts eight bytes each."""
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, bytes | str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(_bytes_in, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(_bytes_in, value))
    return 8
