"""An exponential moving average of a network's weights: steadier than the latest weights."""

from __future__ import annotations

import copy
from typing import Any

import torch

from warpzone.models.actor_critic import ActorCritic


class EmaPolicy:
    """The policy that is evaluated and recorded, while the latest weights play and learn.

    Small steps make weights jitter around a better point; their average lies nearer to it.
    """

    def __init__(self, model: ActorCritic, decay: float):
        """Begins with the network's present weights.

        Args:
            model: The network whose weights are averaged.
            decay: Share of the average that an update keeps; 0 means the latest weights.
        """
        self.model = copy.deepcopy(model).requires_grad_(False).eval()
        self.decay = decay
        self.updates = 0

    @torch.no_grad()
    def update(self, model: ActorCritic) -> None:
        """Moves the average towards the network's latest weights."""
        self.updates += 1
        # The initial weights are random and should be forgotten soon.
        decay = min(self.decay, self.updates / (self.updates + 10.0)) if self.decay else 0.0
        for average, weight in zip(self.model.parameters(), model.parameters(), strict=True):
            average.lerp_(weight, 1.0 - decay)

    def state_dict(self) -> dict[str, Any]:
        """Everything that an exact resume needs."""
        return {"weights": self.model.state_dict(), "updates": self.updates}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores what `state_dict` returned."""
        self.model.load_state_dict(state["weights"])
        self.updates = state["updates"]
