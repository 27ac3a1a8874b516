"""A running average of a network's weights: steadier than the weights that just took a step."""

from __future__ import annotations

import copy
from typing import Any

import torch

from warpzone.models.actor_critic import ActorCritic


class EmaPolicy:
    """The policy that is judged and filmed, while the present weights go on playing and learning.

    Small steps make weights jitter around a better point; their average lies nearer to it.
    """

    def __init__(self, model: ActorCritic, keep: float):
        """Begins with the network as it is.

        Args:
            model: What is averaged.
            keep: Share of the average that an update leaves; 0 follows the network at once.
        """
        self.model = copy.deepcopy(model).requires_grad_(False).eval()
        self.keep = keep
        self.updates = 0

    @torch.no_grad()
    def update(self, model: ActorCritic) -> None:
        """Moves the average towards the network's present weights."""
        self.updates += 1
        # The first weights know nothing and are forgotten soon.
        keep = min(self.keep, self.updates / (self.updates + 10.0)) if self.keep else 0.0
        for average, weight in zip(self.model.parameters(), model.parameters(), strict=True):
            average.lerp_(weight, 1.0 - keep)

    def state_dict(self) -> dict[str, Any]:
        """Everything that an exact resume needs."""
        return {"weights": self.model.state_dict(), "updates": self.updates}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from a saved state."""
        self.model.load_state_dict(state["weights"])
        self.updates = state["updates"]
