"""The averaged policy follows the learned one, smoothly."""

from __future__ import annotations

import pytest
import torch

from warpzone.algorithms.ema import EmaPolicy
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.memory import make_memory
from warpzone.models.tile_encoder import TileEncoder


def make_model() -> ActorCritic:
    torch.manual_seed(0)
    return ActorCritic(
        TileEncoder((5, 2, 2), ["x_speed", "on_ground"], 8, 8), make_memory("none", 8, 8, 4), 3
    )


def set_all(model: ActorCritic, value: float) -> None:
    with torch.no_grad():
        for weight in model.parameters():
            weight.fill_(value)


def test_the_average_of_constant_weights_equals_them() -> None:
    model = make_model()
    average = EmaPolicy(model, 0.9)
    for _ in range(5):
        average.update(model)
    for kept, weight in zip(average.model.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(kept.data, weight.data)


def test_the_average_smooths_jitter_and_follows_changes() -> None:
    model = make_model()
    average = EmaPolicy(model, 0.9)
    for step in range(400):
        set_all(model, 1.0 if step % 2 else -1.0)
        average.update(model)
    assert all(weight.abs().max() < 0.1 for weight in average.model.parameters())
    set_all(model, 5.0)
    for _ in range(100):
        average.update(model)
    assert all(weight.min() > 4.9 for weight in average.model.parameters())


def test_the_influence_of_the_initial_weights_fades_quickly() -> None:
    model = make_model()
    set_all(model, 100.0)
    average = EmaPolicy(model, 0.999)
    set_all(model, 0.0)
    for _ in range(30):
        average.update(model)
    assert all(weight.max() < 1.0 for weight in average.model.parameters())


@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_the_average_does_not_train_and_decay_zero_copies(decay: float) -> None:
    model = make_model()
    average = EmaPolicy(model, decay)
    set_all(model, 2.0)
    average.update(model)
    assert not any(weight.requires_grad for weight in average.model.parameters())
    follows = all(bool((weight == 2.0).all()) for weight in average.model.parameters())
    assert follows == (decay == 0.0)
