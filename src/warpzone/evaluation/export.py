"""Exports a run's policy as a small file: averaged weights without what only training needs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from warpzone.config import RunOptions, TrainConfig
from warpzone.errors import CheckpointError
from warpzone.evaluation.policy_file import PolicyFacts, write_policy_file
from warpzone.evaluation.trained import averaged_weights, checkpoint_of, make_network
from warpzone.runs import checkpoint
from warpzone.runs.levels import trained_levels
from warpzone.runs.saved_config import saved_config
from warpzone.system.source_version import source_version


def export_policy(target: Path, output: Path) -> str:
    """Writes the policy of a run.

    Args:
        target: A run (its best checkpoint, or else the latest), or a checkpoint.
        output: The file to write; its folder is created if missing.

    Returns:
        The file's SHA-256.

    Raises:
        CheckpointError: There is no checkpoint, or the file cannot be written.
    """
    config = saved_config(target)
    path = checkpoint_of(target)
    saved = checkpoint.load(path)
    model = make_network(config, averaged_weights(saved))
    seconds, optimizer = _training(saved)
    facts = PolicyFacts(
        levels=trained_levels(config.env),
        steps=saved.meta.steps,
        updates=saved.meta.updates,
        minutes=round(seconds / 60, 2),
        seed=config.run.seed,
        commit=source_version(),
        checkpoint=path.name,
        checkpoint_sha256=checkpoint.sha256_of(path),
        created=saved.meta.created,
    )
    forget_unused_inputs(model, optimizer)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CheckpointError(f"{output} cannot be written ({error.strerror})") from error
    return write_policy_file(output, _without_paths(config), facts, model.state_dict())


def _without_paths(config: TrainConfig) -> TrainConfig:
    """The configuration without folders of this machine, which mean nothing on another one."""
    plugins = tuple(
        Path(plugin).name if plugin.endswith(".py") else plugin for plugin in config.run.plugins
    )
    return replace(
        config,
        env=replace(config.env, rom=""),
        starts=replace(config.starts, solutions=Path(config.starts.solutions).name),
        distill=replace(config.distill, teachers=Path(config.distill.teachers).name),
        run=replace(
            config.run,
            runs=RunOptions().runs,
            plugins=plugins,
            init_from=Path(config.run.init_from).name,
        ),
    )


def _training(saved: checkpoint.Checkpoint) -> tuple[float, Mapping[str, Any]]:
    """How long the training took, in seconds, and the state of its optimizer.

    Raises:
        CheckpointError: The checkpoint holds something else.
    """
    try:
        seconds, optimizer = float(saved.state["counters"]["elapsed"]), saved.state["optimizer"]
        if not math.isfinite(seconds) or not isinstance(optimizer["state"], Mapping):
            raise ValueError("it has no time and no optimizer")
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{saved.path} is not the state of a training: {error!r}") from error
    return seconds, optimizer


@torch.no_grad()
def forget_unused_inputs(model: torch.nn.Module, optimizer: Mapping[str, Any]) -> None:
    """Zeroes weights whose input was always zero while training.

    They never got a gradient, so Adam's second moment of the whole column is exactly zero, and
    they still have their random initial values. More than half of the inputs of a policy for one
    level are of this kind (tiles that do not occur), and zeros compress to nothing.
    """
    for number, weight in enumerate(model.parameters()):
        row = optimizer["state"].get(number)
        moments = row.get("exp_avg_sq") if isinstance(row, Mapping) else None
        if not isinstance(moments, torch.Tensor):
            continue
        if weight.ndim == 2 and moments.shape == weight.shape:
            weight[:, ~moments.ne(0).any(0)] = 0.0
