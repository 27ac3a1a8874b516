"""How a trained policy chooses actions."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
import torch

from warpzone.evaluation.choosing import Chooser
from warpzone.evaluation.trained import Player
from warpzone.models.actor_critic import ActorCritic, Decision

LANES = 4000
PREFERENCES = torch.tensor([0.0, 1.0, 0.5])


class Undecided:
    """A network that always says the same."""

    policy = torch.nn.Linear(1, len(PREFERENCES))

    def initial_state(self, lanes: int) -> torch.Tensor:
        return torch.zeros(lanes, 0)

    def step(self, obs: Any, state: torch.Tensor, first: torch.Tensor) -> Decision:
        return Decision(PREFERENCES.repeat(LANES, 1), torch.zeros(LANES), state)


def shares(eval_temperature: float, greedy: bool = False) -> list[float]:
    chooser = Chooser(cast("ActorCritic", Undecided()))
    player = Player(chooser, LANES, 1, greedy, eval_temperature)
    actions = player(np.zeros((LANES, 1), np.uint8), np.ones(LANES, np.bool_))
    return [float((actions == action).mean()) for action in range(len(PREFERENCES))]


@pytest.mark.parametrize("eval_temperature", [0.5, 1.0, 2.0])
def test_actions_are_sampled_at_the_given_temperature(eval_temperature: float) -> None:
    expected = torch.softmax(PREFERENCES / eval_temperature, 0).tolist()
    assert shares(eval_temperature) == pytest.approx(expected, abs=0.03)


def test_a_greedy_player_takes_the_most_likely_action() -> None:
    assert shares(2.0, greedy=True) == [0.0, 1.0, 0.0]
