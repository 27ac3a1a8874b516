"""Exponential moving average (EMA) of a network's weights."""

from __future__ import annotations

import copy
from typing import Any

import torch

from warpzone.models.actor_critic import ActorCritic


class EmaPolicy:
    """Policy with averaged weights, for evaluation and videos; training uses the latest weights.

    The latest weights jitter around an optimum; their average is closer to it.
    """

    def __init__(self, model: ActorCritic, decay: float):
        """Starts from the network's current weights.

        Args:
            model: Network whose weights are averaged.
            decay: Decay of the average per update; 0 means the latest weights.
        """
        self.model = copy.deepcopy(model).requires_grad_(False).eval()
        self.decay = decay
        self.updates = 0

    @torch.no_grad()
    def update(self, model: ActorCritic) -> None:
        """Moves the average towards the network's latest weights."""
        self.updates += 1
        # The initial weights are random, so their influence should fade quickly.
        decay = min(self.decay, self.updates / (self.updates + 10.0)) if self.decay else 0.0
        for average, weight in zip(self.model.parameters(), model.parameters(), strict=True):
            average.lerp_(weight, 1.0 - decay)

    def restart(self, model: ActorCritic) -> None:
        """Starts again from the network's current weights."""
        self.model.load_state_dict(model.state_dict())
        self.updates = 0

    def state_dict(self) -> dict[str, Any]:
        """Returns the state that an exact resume needs."""
        return {"weights": self.model.state_dict(), "updates": self.updates}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self.model.load_state_dict(state["weights"])
        self.updates = state["updates"]
