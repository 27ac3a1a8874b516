"""Self-imitation: its loss computed by hand, and learning from random play alone."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import Tensor, nn

from warpzone._native import SumTree
from warpzone.algorithms.self_imitation import SelfImitation, self_imitation_loss
from warpzone.config import ReplayOptions
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.memory import make_memory
from warpzone.models.tree import IMAGE
from warpzone.replay.buffer import PrioritizedReplay, Transitions

SYMBOLS, ENVS = 5, 20


def test_only_positive_advantages_contribute() -> None:
    log_probs = torch.tensor([-1.0, -2.0, -3.0], requires_grad=True)
    values = torch.tensor([1.0, 1.0, 1.0], requires_grad=True)
    returns = torch.tensor([3.0, 0.0, 2.0])
    weights = torch.tensor([1.0, 1.0, 0.5])
    result = self_imitation_loss(log_probs, values, returns, weights)
    assert result.policy.item() == pytest.approx((2.0 * 1.0 + 1.0 * 3.0 * 0.5) / 3)
    assert result.value.item() == pytest.approx(0.5 * (4.0 + 0.5 * 1.0) / 3)
    assert result.advantages.tolist() == [2.0, -1.0, 1.0]
    (result.policy + result.value).backward()
    assert log_probs.grad is not None
    assert values.grad is not None
    torch.testing.assert_close(log_probs.grad, torch.tensor([-2.0, 0.0, -0.5]) / 3)
    torch.testing.assert_close(values.grad, torch.tensor([-2.0, 0.0, -0.5]) / 3)


class Pixels(nn.Module):
    """One linear layer over the observations."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(SYMBOLS, 32)

    def forward(self, obs: Tensor) -> Tensor:
        return torch.tanh(self.layer(obs.flatten(1).float() / 255.0))


def random_play(replay: PrioritizedReplay, steps: int, generator: torch.Generator) -> None:
    """Adds random play: naming the shown symbol is rare and yields more than expected."""
    symbols = torch.randint(0, SYMBOLS, (steps, ENVS), generator=generator)
    actions = torch.randint(0, SYMBOLS, (steps, ENVS), generator=generator)
    stacks = nn.functional.one_hot(symbols, SYMBOLS).to(torch.uint8) * 255
    returns = 5.0 * (symbols == actions)
    first = torch.ones(steps, ENVS, dtype=torch.bool)
    replay.push(Transitions({IMAGE: stacks}, first, actions, returns, torch.zeros_like(returns)))


def make(options: ReplayOptions) -> tuple[ActorCritic, PrioritizedReplay, SelfImitation]:
    torch.manual_seed(0)
    model = ActorCritic(Pixels(), make_memory("none", 32, 32, window=1), SYMBOLS, obs_name=IMAGE)
    space = {IMAGE: spaces.Box(0, 255, (SYMBOLS,), np.uint8)}
    tree = SumTree(options.capacity)
    replay = PrioritizedReplay(options, space, tree, num_envs=ENVS, stacks={IMAGE: 1}, seed=3)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    def apply(loss: Tensor) -> float:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return 0.0

    return model, replay, SelfImitation(model, replay, options, apply, nullcontext)


def test_it_learns_from_random_play_alone() -> None:
    model, replay, imitation = make(
        ReplayOptions(capacity=1000, batch_size=64, weight=1.0, learning_starts=500)
    )
    random_play(replay, 40, torch.Generator().manual_seed(1))
    for update in range(40):
        row = imitation.learn(update, progress=update / 40)
    shown = torch.eye(SYMBOLS, dtype=torch.uint8) * 255
    with torch.inference_mode():
        named = model({IMAGE: shown}).logits.argmax(-1)
    assert named.tolist() == list(range(SYMBOLS))
    assert 0 < row["replay/better_share"] <= 1


def test_it_learns_every_kth_update_after_learning_starts() -> None:
    options = ReplayOptions(
        capacity=1000, interval=3, batches=2, batch_size=8, learning_starts=5 * ENVS
    )
    _, replay, imitation = make(options)
    generator = torch.Generator().manual_seed(1)
    learned = []
    for update in range(10):
        random_play(replay, 1, generator)
        learned.append(bool(imitation.learn(update, 0.0)))
        assert replay.pushed == (update + 1) * ENVS
    assert [update for update, did in enumerate(learned) if did] == [6, 9]
