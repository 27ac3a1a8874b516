"""Rollouts and weights as they travel between actors and the learner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from warpzone.config import TrainConfig
from warpzone.models.weights import strip_compiled
from warpzone.rollout.collector import CollectTimes
from warpzone.rollout.storage import RolloutStorage
from warpzone.telemetry.episodes import Episode
from warpzone.telemetry.metrics import MetricRow

Weights = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Policy:
    """Weights of one version, and the options to play with.

    Attributes:
        version: Number of updates that led to the weights.
        weights: Arrays by name.
        config: Configuration of the run, whose reward may change between updates.
    """

    version: int
    weights: Weights
    config: TrainConfig


@dataclass(frozen=True)
class PlayedRollout:
    """Rollout of an actor.

    Attributes:
        actor: Number of the actor.
        version: Version of the weights that played it.
        arrays: Contents of the rollout storage.
        episodes: Episodes that ended.
        metrics: Metrics of the actor's environments.
        times: Seconds spent on collection.
        idle: Seconds that the actor waited before it.
        knowledge: What the actor's curriculum has learned, if it was asked for.
    """

    actor: int
    version: int
    arrays: Mapping[str, Any]
    episodes: list[Episode]
    metrics: MetricRow
    times: CollectTimes
    idle: float
    knowledge: dict[str, Any] | None


def weights_of(model: nn.Module) -> Weights:
    """Returns the weights of a network as arrays in host memory."""
    state = strip_compiled(model.state_dict())
    return {name: value.detach().cpu().contiguous().numpy() for name, value in state.items()}


@torch.no_grad()
def put_weights(weights: Weights, model: nn.Module) -> None:
    """Copies weights into a network, whose tensors may be stored in another order."""
    for name, value in strip_compiled(model.state_dict()).items():
        value.copy_(torch.from_numpy(np.array(weights[name])))


def packed(storage: RolloutStorage) -> dict[str, Any]:
    """Returns a rollout as arrays that share the memory of the storage."""
    state = storage.state_dict()
    obs = {name: part.numpy() for name, part in state.pop("obs").items()}
    return {"obs": obs} | {name: value.numpy() for name, value in state.items()}


def unpack(arrays: Mapping[str, Any], storage: RolloutStorage) -> None:
    """Copies a rollout into a storage of the same shape."""
    state = storage.state_dict()
    for name, part in state.pop("obs").items():
        np.copyto(part.numpy(), arrays["obs"][name])
    for name, value in state.items():
        np.copyto(value.numpy(), arrays[name])
