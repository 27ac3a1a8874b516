"""How a trained policy chooses actions: as PyTorch's network does, by native code where possible.

An action is the one with the highest score: its logit, or its logit at a temperature plus random
noise. Native code computes the same logits up to rounding. If the two highest scores are closer
than rounding could matter, PyTorch decides. So the actions are PyTorch's, at the speed of native
code, and results that were measured with PyTorch alone can be repeated exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from warpzone.evaluation.native_network import NativeNetwork
from warpzone.models.actor_critic import ActorCritic, gumbel_noise
from warpzone.models.tree import to_tensors

ROUNDING = 2e-5
"""Bound of the difference between native logits and PyTorch's, relative to the largest logit plus
one; tests find less than a tenth of it."""


class Choice(NamedTuple):
    """Actions for a batch of observations.

    Attributes:
        actions: One action per environment.
        values: Values of the states.
        state: Recurrent state after the observations.
    """

    actions: NDArray[np.int64]
    values: NDArray[np.float32]
    state: Tensor


class Chooser:
    """Chooses actions of one network.

    Attributes:
        model: The network.
    """

    def __init__(self, model: ActorCritic, native: NativeNetwork | None = None):
        """Creates the chooser.

        Args:
            model: The network.
            native: Its native copy, if it has one.
        """
        self.model, self._native = model, native

    @torch.inference_mode()
    def choose(
        self,
        obs: Mapping[str, Any],
        state: Tensor,
        first: NDArray[np.bool_],
        *,
        temperature: float,
        random: torch.Generator | None,
    ) -> Choice:
        """Chooses an action for every environment.

        Args:
            obs: Observations by name.
            state: Recurrent state before them.
            first: Environments whose episode begins.
            temperature: Divides the logits before an action is sampled.
            random: Samples actions; None takes the most likely ones.
        """
        noise = None
        if random is not None:
            noise = gumbel_noise(torch.empty(len(first), self.model.policy.out_features), random)
        if self._native is not None:
            logits, values = self._native.decide(obs["tiles"], obs["features"])
            scores = _scores(logits, temperature, noise)
            if _is_certain(scores, logits, temperature if noise is not None else 1.0):
                return Choice(scores.argmax(-1).numpy(), values, state)
        decision = self.model.step(to_tensors(obs), state, torch.from_numpy(first))
        actions = _scores(decision.logits, temperature, noise).argmax(-1)
        return Choice(actions.numpy(), decision.values.numpy(), decision.state)


def _scores(logits: Tensor, temperature: float, noise: Tensor | None) -> Tensor:
    return logits if noise is None else logits / temperature + noise


def _is_certain(scores: Tensor, logits: Tensor, temperature: float) -> bool:
    """Whether the highest scores stay the highest, however the logits are rounded."""
    if scores.shape[1] < 2:
        return True
    best = scores.topk(2, -1).values
    error = ROUNDING * (1.0 + float(logits.abs().max())) / temperature
    return bool(((best[:, 0] - best[:, 1]) > 2.0 * error).all())
