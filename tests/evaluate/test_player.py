"""How a trained policy chooses actions."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
import torch

from warpzone.evaluate.trained import Player
from warpzone.models.actor_critic import ActorCritic, Decision

LANES = 4000
PREFERENCES = torch.tensor([0.0, 1.0, 0.5])


class Undecided:
    """A network that always says the same."""

    def initial_state(self, lanes: int) -> torch.Tensor:
        return torch.zeros(lanes, 0)

    def step(self, obs: Any, state: torch.Tensor, first: torch.Tensor) -> Decision:
        return Decision(PREFERENCES.repeat(LANES, 1), torch.zeros(LANES), state)


def shares(sharpness: float, greedy: bool = False) -> list[float]:
    player = Player(cast("ActorCritic", Undecided()), LANES, 1, greedy, sharpness)
    actions = player(np.zeros((LANES, 1), np.uint8), np.ones(LANES, np.bool_))
    return [float((actions == action).mean()) for action in range(len(PREFERENCES))]


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 2.0])
def test_actions_are_drawn_from_sharpened_preferences(sharpness: float) -> None:
    expected = torch.softmax(PREFERENCES * sharpness, 0).tolist()
    assert shares(sharpness) == pytest.approx(expected, abs=0.03)


def test_a_greedy_player_takes_the_most_likely_action() -> None:
    assert shares(2.0, greedy=True) == [0.0, 1.0, 0.0]
