"""Guards of the learner: gradients that are unusable, and those that are gathered."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import torch
from gymnasium import spaces

from warpzone.algorithms.learner import Learner, LearnerError, LearnerSettings
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.encoders import Encoder
from warpzone.models.memory import make_memory
from warpzone.rollout.storage import RolloutStorage

STEPS, LANES, WIDTH = 8, 6, 4


class Bytes(Encoder):
    size = WIDTH

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return obs.float() / 255.0


def filled_storage(state_size: int = 0) -> RolloutStorage:
    draws = torch.Generator().manual_seed(5)
    storage = RolloutStorage(STEPS, LANES, spaces.Box(0, 255, (WIDTH,), np.uint8), state_size)
    for t in range(STEPS + 1):
        storage.obs_target(t)[:] = torch.randint(
            0, 256, (LANES, WIDTH), generator=draws, dtype=torch.uint8
        ).numpy()
    storage.rewards.copy_(torch.randn(STEPS, LANES, generator=draws))
    storage.actions.copy_(torch.randint(0, 3, (STEPS, LANES), generator=draws))
    storage.log_probs.fill_(math.log(1 / 3))
    return storage


def make_learner(settings: LearnerSettings, memory: str = "none") -> Learner:
    torch.manual_seed(0)
    model = ActorCritic(Bytes(), make_memory(memory, WIDTH, 8, 4), 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return Learner(model, optimizer, settings, torch.Generator().manual_seed(1), nullcontext)


def weights(learner: Learner) -> torch.Tensor:
    return torch.cat([weight.detach().flatten().clone() for weight in learner.model.parameters()])


ONE_PASS = LearnerSettings(
    epochs=1, minibatch_size=20, normalise_advantages=False, max_grad_norm=1e9, grad_norm_limit=1e9
)


@pytest.mark.parametrize("memory", ["none", "gru"])
@pytest.mark.parametrize("grad_accumulation", [3, 4, 100])
def test_gathering_all_minibatches_equals_one_large_one(
    memory: str, grad_accumulation: int
) -> None:
    """48 steps in parts of 20, 20 and 8, or 6 lanes in parts of 2: one step from all of them."""
    size = filled_storage().steps * LANES
    whole = make_learner(replace(ONE_PASS, minibatch_size=size), memory)
    parts = make_learner(replace(ONE_PASS, grad_accumulation=grad_accumulation), memory)
    before = weights(whole)
    for learner in (whole, parts):
        learner.learn(filled_storage(learner.model.memory.state_size), 0.01)
    assert not torch.equal(weights(whole), before)
    torch.testing.assert_close(weights(parts), weights(whole))


def test_leftovers_are_applied_in_their_own_epoch() -> None:
    """Groups of two out of three minibatches: two steps an epoch, and no gradient stays behind."""
    learner = make_learner(replace(ONE_PASS, grad_accumulation=2, epochs=2))
    steps = 0

    def count(*_: object) -> None:
        nonlocal steps
        steps += 1

    learner.optimizer.register_step_post_hook(count)
    learner.learn(filled_storage(), 0.01)
    assert steps == 4
    assert all(weight.grad is None for weight in learner.model.parameters())


def test_the_reported_norm_is_the_mean_over_steps_of_the_optimizer() -> None:
    size = STEPS * LANES
    whole = make_learner(replace(ONE_PASS, minibatch_size=size)).learn(filled_storage(), 0.01)
    parts = make_learner(replace(ONE_PASS, grad_accumulation=3)).learn(filled_storage(), 0.01)
    assert parts["learn/grad_norm"] == pytest.approx(whole["learn/grad_norm"], rel=1e-4)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_loss_that_is_no_number_is_skipped_and_counted(bad: float) -> None:
    learner = make_learner(replace(ONE_PASS, minibatch_size=STEPS * LANES, epochs=3))
    before = weights(learner)
    storage = filled_storage()
    storage.rewards[2, 1] = bad
    row = learner.learn(storage, 0.01)
    assert row["learn/skipped"] == 3
    assert torch.equal(weights(learner), before)
    learner.learn(filled_storage(), 0.01)
    assert learner.skipped == 3
    assert not torch.equal(weights(learner), before)


def test_a_gradient_above_the_limit_is_skipped() -> None:
    learner = make_learner(replace(ONE_PASS, minibatch_size=STEPS * LANES, grad_norm_limit=1e-6))
    before = weights(learner)
    row = learner.learn(filled_storage(), 0.01)
    assert row["learn/skipped"] == 1
    assert row["learn/grad_norm"] > 1e-6
    assert torch.equal(weights(learner), before)


def test_too_many_in_a_row_stop_and_a_good_one_starts_the_count_again() -> None:
    settings = replace(ONE_PASS, minibatch_size=STEPS * LANES, max_skipped_updates=2)
    bad = filled_storage()
    bad.rewards.fill_(math.nan)
    learner = make_learner(settings)
    for _ in range(4):
        learner.learn(bad, 0.01)
        learner.learn(bad, 0.01)
        learner.learn(filled_storage(), 0.01)
    learner.learn(bad, 0.01)
    resumed = make_learner(settings)
    resumed.load_state_dict(learner.state_dict())
    resumed.learn(bad, 0.01)
    with pytest.raises(LearnerError, match="3 gradients in a row were unusable"):
        resumed.learn(bad, 0.01)
    assert resumed.skipped == 11


def test_float16_scales_the_loss_and_steps_as_without() -> None:
    plain = make_learner(replace(ONE_PASS, minibatch_size=STEPS * LANES))
    scaled = make_learner(replace(ONE_PASS, minibatch_size=STEPS * LANES))
    scaled.scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for learner in (plain, scaled):
        learner.learn(filled_storage(), 0.01)
    torch.testing.assert_close(weights(scaled), weights(plain))
    assert scaled.state_dict()["scaler"]["scale"] == 1024.0
    assert plain.state_dict()["scaler"] == {}
