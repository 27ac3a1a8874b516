"""The network of a run: inference, compilation and optimizer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor, nn

from warpzone.config import LearnOptions
from warpzone.errors import ConfigError
from warpzone.models import compiling
from warpzone.models.actor_critic import ActorCritic, Decision
from warpzone.models.placement import to_device
from warpzone.models.tree import Tree
from warpzone.rollout.storage import RolloutStorage
from warpzone.training.row_adam import RowAdam

_EPSILON = 1e-5


class Inference:
    """Runs a network on observations in host memory, whatever its device."""

    def __init__(self, model: ActorCritic, autocast: Callable[[], AbstractContextManager[Any]]):
        """Stores the network and the factory of its forward context."""
        self._model, self._autocast = model, autocast
        self._device = model.policy.weight.device

    def __call__(self, obs: Tree, state: Tensor, first: Tensor) -> Decision:
        """Evaluates one step of each environment; returns logits and values in host memory."""
        with self._autocast():
            decision = self._model.step(*to_device((obs, state, first), self._device))
        return decision._replace(logits=decision.logits.cpu(), values=decision.values.cpu())


def compile_model(model: ActorCritic, infer: Inference, storage: RolloutStorage) -> None:
    """Compiles a network and runs it once, which reveals a missing compiler.

    Raises:
        ConfigError: The network cannot be compiled on this machine.
    """
    compiling.compile_parts(model, compiling.BACKEND)
    try:
        with torch.inference_mode():
            infer(storage.obs(0), model.initial_state(storage.num_envs), storage.first[0])
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[0]
        raise ConfigError(
            f"run.compile is set, but torch.compile fails here ({reason}); install a C++ compiler, "
            "or train without --compile"
        ) from error


def make_optimizer(
    options: LearnOptions, model: ActorCritic, *, native: bool = False
) -> torch.optim.Optimizer:
    """Creates the optimizer of a run.

    Args:
        options: Kind of optimizer and learning rate.
        model: Network to optimize.
        native: Whether native code computes layers of the model.
    """
    if native and options.optimizer == "adam":
        return RowAdam(
            model.parameters(),
            _largest_weight(model),
            torch.get_num_threads(),
            lr=options.learning_rate,
            eps=_EPSILON,
            fused=True,
        )
    kind = torch.optim.AdamW if options.optimizer == "adamw" else torch.optim.Adam
    # A fused kernel makes one pass over the weights instead of a dozen.
    fused = next(model.parameters()).device.type in ("cpu", "cuda")
    return kind(model.parameters(), lr=options.learning_rate, eps=_EPSILON, fused=fused)


def _largest_weight(model: ActorCritic) -> nn.Parameter:
    matrices = (parameter for parameter in model.parameters() if parameter.dim() == 2)
    return max(matrices, key=nn.Parameter.numel)


def clip_of(optimizer: torch.optim.Optimizer) -> Callable[[float], float] | None:
    """Returns the optimizer's own method of clipping gradients, or None."""
    return optimizer.clip_grad_norm if isinstance(optimizer, RowAdam) else None


@torch.no_grad()
def match_layout(optimizer: torch.optim.Optimizer) -> None:
    """Converts an optimizer's loaded state to the memory layout of the weights, as it requires."""
    for weight, state in optimizer.state.items():
        for name, value in state.items():
            if value.shape == weight.shape and value.stride() != weight.stride():
                state[name] = torch.empty_like(weight).copy_(value)


def train_only_value_head(model: ActorCritic, only: bool) -> None:
    """Freezes everything but the value head, or nothing."""
    head = {id(parameter) for parameter in model.value.parameters()}
    for parameter in model.parameters():
        parameter.requires_grad_(not only or id(parameter) in head)
