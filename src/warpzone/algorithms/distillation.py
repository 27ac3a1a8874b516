"""On-policy distillation: a student plays, and teachers say what they would have done.

After DAgger (Ross et al., 2011) and policy distillation (Rusu et al., 2016): the states are those
that the student visits, the targets are the teachers' action probabilities, and the loss is the
Kullback-Leibler divergence. No reward is involved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor

from warpzone.config import DistillOptions
from warpzone.errors import CheckpointError
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.placement import to_device
from warpzone.models.tree import Tree, map_tree


def distillation_loss(logits: Tensor, targets: Tensor, weights: Tensor | None = None) -> Tensor:
    """Mean divergence of the student's policy from the targets, KL(targets || student).

    Args:
        logits: Of the student, [B, actions].
        targets: Probabilities of the teachers, [B, actions].
        weights: Of the states, [B]; 1 by default.
    """
    cross_entropy = -(targets * torch.log_softmax(logits, -1)).sum(-1)
    divergence = cross_entropy + torch.xlogy(targets, targets).sum(-1)
    return divergence.mean() if weights is None else (divergence * weights).mean()


class DistillationBuffer:
    """The newest states with their targets; the oldest are overwritten."""

    def __init__(self, capacity: int) -> None:
        """Creates an empty buffer; memory is allocated with the first states."""
        self.capacity = capacity
        self.size = 0
        self._next = 0
        self._parts: Tree = {}

    def push(self, obs: Tree, targets: Tensor, levels: Tensor) -> None:
        """Adds states.

        Args:
            obs: Observations by name, [B, ...].
            targets: Probabilities of the teachers, [B, actions].
            levels: Numbers of the levels, [B].
        """
        named = {**obs, _TARGETS: targets, _LEVELS: levels}
        parts = map_tree(lambda part: part[-self.capacity :], named)
        count = len(parts[_TARGETS])
        if not self._parts:
            self._parts = map_tree(
                lambda part: torch.zeros(self.capacity, *part.shape[1:], dtype=part.dtype), parts
            )
        places = (torch.arange(count) + self._next) % self.capacity
        for name, part in parts.items():
            self._parts[name][places] = part
        self._next = (self._next + count) % self.capacity
        self.size = min(self.size + count, self.capacity)

    def sample(self, count: int, generator: torch.Generator) -> tuple[Tree, Tensor, Tensor]:
        """Draws states uniformly, with replacement: observations, targets and levels."""
        chosen = torch.randint(self.size, (count,), generator=generator)
        parts = map_tree(lambda part: part.index_select(0, chosen), self._parts)
        targets, levels = parts.pop(_TARGETS), parts.pop(_LEVELS)
        return parts, targets, levels

    def state_dict(self) -> dict[str, Any]:
        """The states that it holds, for an exact resume."""
        return {
            "next": self._next,
            "size": self.size,
            "parts": map_tree(lambda part: part[: self.size].clone(), self._parts),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores what `state_dict` returned.

        Raises:
            CheckpointError: It does not fit this capacity.
        """
        if state["size"] > self.capacity:
            raise CheckpointError(
                f"the checkpoint holds {state['size']:,} states to distill from, more than "
                f"distill.capacity {self.capacity:,}"
            )
        self.size, self._next, self._parts = 0, 0, {}
        if state["size"]:
            parts = dict(state["parts"])
            self.push(parts, parts.pop(_TARGETS), parts.pop(_LEVELS))
        self._next = state["next"] % self.capacity


class Distillation:
    """Teaches a network from a buffer of states with targets."""

    def __init__(
        self,
        model: ActorCritic,
        options: DistillOptions,
        *,
        minimize: Callable[[Tensor, float], float],
        autocast: Callable[[], AbstractContextManager[Any]],
        generator: torch.Generator,
    ) -> None:
        """Assembles the parts.

        Args:
            model: The student; without recurrent memory, since single states are sampled.
            options: Size of the buffer, number and size of batches.
            minimize: Takes an optimizer step on a loss, with gradients clipped to a norm, and
                returns the norm that they had.
            autocast: Makes the context in which the model runs forward.
            generator: Draws the samples.
        """
        self._model, self._options = model, options
        self._minimize, self._autocast, self._generator = minimize, autocast, generator
        self.buffer = DistillationBuffer(options.capacity)

    def learn(self, taught: Tensor) -> dict[str, float]:
        """Takes the gradient steps of one rollout and returns metrics.

        Args:
            taught: Whether each level still learns from its teacher, [levels]. States of other
                levels have no weight.
        """
        losses, norms, agreement = [], [], []
        for _ in range(self._options.batches):
            obs, targets, levels = self.buffer.sample(self._options.batch_size, self._generator)
            batch = (obs, targets, taught[levels].float())
            obs, targets, weights = to_device(batch, self._model.policy.weight.device)
            with self._autocast():
                logits = self._model(obs).logits
            loss = distillation_loss(logits, targets, weights)
            norms.append(self._minimize(loss, self._options.max_grad_norm))
            losses.append(float(loss.detach()))
            same = logits.detach().argmax(-1) == targets.argmax(-1)
            agreement.append(float(same.float().mean()))
        return {
            "loss/total": _mean(losses),
            "distill/kl": _mean(losses),
            "distill/agreement": _mean(agreement),
            "distill/fill": self.buffer.size / self.buffer.capacity,
            "learn/grad_norm": _mean(norms),
        }


_TARGETS, _LEVELS = "__targets__", "__levels__"


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
